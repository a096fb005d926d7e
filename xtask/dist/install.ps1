# Installs boswell on Windows, for the current user.
#
#   powershell -ExecutionPolicy Bypass -File install.ps1
#   ... -Prefix DIR            into another folder
#   ... -Uninstall             removes what it installed, and nothing else
#   ... -WithoutSignature      verifies the checksum alone
#
# The files of the release are taken from the folder of this script. Those that are not there are
# downloaded if the release has an address. Checksum and signature are verified in a temporary
# folder before anything is installed.
param(
    [string] $Prefix = (Join-Path $env:LOCALAPPDATA 'Programs\boswell'),
    [switch] $Uninstall,
    [switch] $WithoutSignature
)
$ErrorActionPreference = 'Stop'

$version = '@VERSION@'
# Empty: nothing is downloaded.
$release = '@RELEASE@'
# The public key of minisign. Empty: the release is not signed.
$key = '@KEY@'

function Fail([string] $message, [string] $hint) {
    throw "$message`nhint: $hint"
}

# Copies or downloads a file of the release into the temporary folder.
function Get-ReleaseFile([string] $name) {
    $to = Join-Path $scratch $name
    if ($PSScriptRoot -and (Test-Path -LiteralPath (Join-Path $PSScriptRoot $name))) {
        Copy-Item -LiteralPath (Join-Path $PSScriptRoot $name) -Destination $to
    } elseif (-not $release) {
        Fail "there is no $name next to this script" "download it into the folder of this script"
    } else {
        Invoke-WebRequest -UseBasicParsing -Uri "$release/$name" -OutFile $to
    }
    return $to
}

function Test-Signature([string] $sums) {
    if (-not $key) {
        Write-Host 'note: this release is not signed; its checksum is verified'
        return
    }
    if ($WithoutSignature) {
        Write-Host 'note: the signature is not verified'
        return
    }
    $null = Get-ReleaseFile 'SHA256SUMS.minisig'
    # Windows itself has no Ed25519.
    if (-not (Get-Command minisign -ErrorAction SilentlyContinue)) {
        Fail 'minisign is not there to verify the signature' `
            'install minisign, or verify the checksum alone with -WithoutSignature'
    }
    & minisign -Vqm $sums -P $key
    if ($LASTEXITCODE -ne 0) {
        Fail 'the signature of SHA256SUMS is not valid' 'download it again; nothing was installed'
    }
}

function Test-Checksum([string] $sums, [string] $file) {
    $name = Split-Path -Leaf $file
    $promised = ''
    foreach ($line in Get-Content -LiteralPath $sums) {
        $words = $line -split '\s+', 2
        if ($words.Count -eq 2 -and $words[1].TrimStart('*') -eq $name) { $promised = $words[0] }
    }
    $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash
    if (-not $promised -or $found -ne $promised) {
        Fail "$name does not have the checksum of SHA256SUMS" `
            'download both again; nothing was installed'
    }
}

$bin = Join-Path $Prefix 'bin'
$program = Join-Path $bin 'boswell.exe'
$completions = Join-Path $Prefix 'completions'

if ($Uninstall) {
    foreach ($file in $program, "$program.old", (Join-Path $completions 'boswell.ps1')) {
        if (Test-Path -LiteralPath $file) { Remove-Item -LiteralPath $file }
    }
    foreach ($folder in $bin, $completions, $Prefix) {
        if ((Test-Path -LiteralPath $folder) -and -not (Get-ChildItem -Force -LiteralPath $folder)) {
            Remove-Item -LiteralPath $folder
        }
    }
    Write-Host "boswell was removed from $Prefix; its own folder with sessions and copies stays"
    return
}

$scratch = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
$null = New-Item -ItemType Directory -Path $scratch
try {
    $sums = Get-ReleaseFile 'SHA256SUMS'
    Test-Signature $sums
    $folder = "boswell-$version-@WINDOWS@"
    $archive = Get-ReleaseFile "$folder.zip"
    Test-Checksum $sums $archive
    Expand-Archive -LiteralPath $archive -DestinationPath $scratch
    $inside = Join-Path $scratch $folder
    # A program that does not run here must not replace one that does.
    $said = & (Join-Path $inside 'boswell.exe') --version
    if ($LASTEXITCODE -ne 0) {
        Fail "the program of $folder.zip does not run on this machine" 'build it: cargo install boswell'
    }
    $null = New-Item -ItemType Directory -Force -Path $bin, $completions
    # A running program cannot be replaced, but renamed.
    if (Test-Path -LiteralPath $program) {
        $old = "$program.old"
        if (Test-Path -LiteralPath $old) { Remove-Item -LiteralPath $old }
        Move-Item -LiteralPath $program -Destination $old
    }
    Copy-Item -LiteralPath (Join-Path $inside 'boswell.exe') -Destination $program
    Copy-Item -Force -LiteralPath (Join-Path $inside 'completions\boswell.ps1') -Destination $completions
    if (Test-Path -LiteralPath "$program.old") {
        # It stays if a boswell still runs from it; the next installation removes it.
        Remove-Item -LiteralPath "$program.old" -ErrorAction SilentlyContinue
    }
    Write-Host "$said is in $bin"
    if (($env:PATH -split ';') -notcontains $bin) {
        Write-Host "add $bin to PATH to start it by its name"
    }
    Write-Host "next: ``$program demo`` shows it on sample sessions, ``$program`` lists yours"
} finally {
    Remove-Item -Recurse -Force -LiteralPath $scratch
}
