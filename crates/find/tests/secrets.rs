//! Real sessions hold hashes, ids and code by the megabyte: few of them may be taken for secrets.

use boswell_find::Secrets;
use boswell_testkit::corpus;

#[test]
fn real_sessions_give_at_most_one_false_alarm_a_megabyte() {
    let secrets = Secrets::new().unwrap();
    for variable in [corpus::CORPUS, corpus::CAPTURES] {
        let Some(folder) = corpus::require_or_skip(variable) else { return };
        let (mut bytes, mut alarms) = (0, 0);
        for path in corpus::files(&folder) {
            let text = boswell_testkit::disk::read(&path);
            bytes += text.len();
            for secret in secrets.find(&text) {
                alarms += 1;
                eprintln!("{}: {} {}", path.file_name().unwrap().to_string_lossy(), secret.kind, secret.masked(&text));
            }
        }
        assert!(alarms <= bytes >> 20, "{alarms} alarms in {bytes} bytes");
    }
}
