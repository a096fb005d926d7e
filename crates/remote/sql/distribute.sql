-- For distributed PostgreSQL (Citus), once, behind `boswell db init`, by the owner of the tables.
SELECT create_distributed_table('boswell.logs', 'tenant');
SELECT create_distributed_table('boswell.lines', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.blobs', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.people', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.tokens', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.projects', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.members', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.shared', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.shared_files', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.shared_parts', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.audit', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.receipts', 'tenant', colocate_with => 'boswell.logs');
SELECT create_reference_table('boswell.versions');
SELECT create_distributed_function(
  'boswell.take_lease(text,text,text,uuid,text,int)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.renew_lease(text,text,bigint,int)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.release_lease(text,text,bigint)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.create_log(text,text,bigint,text,boolean,bytea[],bigint,text,text,text,text,bigint,bigint,bigint,bytea[],uuid[])',
  'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.append(text,text,uuid,bigint,bigint,int,bytea[],bigint,text,text,text,text,bigint,bigint,bigint,bytea[],uuid[])',
  'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.delete_log(text,text,bigint)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_person(text,text,text,boolean)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_token(text,text,text,bytea,int)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_enter(text,bytea,text)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_project(text,text,boolean,text,int,boolean)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_member(text,text,boolean,text,text,text)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_part(text,text,text,text,bytea)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_missing(text,text,text,text[])', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_publish(text,text,text,bigint,text,text,text,text,boolean,bigint,text[],bigint[],text[],text[])',
  'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_share(text,text,text,text,boolean)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_delete(text,text,text,text,text)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_note(text,text,text,text,text,text)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_read(text,text,text[],text,text)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_erase(text,text,text,uuid)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.team_sweep(text,int)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.claim_blob(text,bytea,uuid)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.mark_blobs(text,bytea[],bigint,uuid)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.lock_blob(text,bytea)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.name_blobs(text,uuid,bytea[],uuid[])', 'p_tenant', colocate_with => 'boswell.logs');
