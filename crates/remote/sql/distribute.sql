-- For distributed PostgreSQL (Citus), once, behind `boswell db init`, by the owner of the tables.
SELECT create_distributed_table('boswell.logs', 'tenant');
SELECT create_distributed_table('boswell.lines', 'tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_table('boswell.blobs', 'tenant', colocate_with => 'boswell.logs');
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
  'boswell.claim_blob(text,bytea,uuid)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.mark_blobs(text,bytea[],bigint,uuid)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.lock_blob(text,bytea)', 'p_tenant', colocate_with => 'boswell.logs');
SELECT create_distributed_function(
  'boswell.name_blobs(text,uuid,bytea[],uuid[])', 'p_tenant', colocate_with => 'boswell.logs');
