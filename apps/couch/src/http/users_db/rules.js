function (newDoc, oldDoc, userCtx, secObj) {
  function refuse(reason) { throw({ forbidden: reason }); }
  function isAdmin() {
    if (userCtx.roles.indexOf('_admin') >= 0) return true;
    var admins = (secObj && secObj.admins) || {};
    if ((admins.names || []).indexOf(userCtx.name) >= 0) return true;
    return (admins.roles || []).some(function (role) { return userCtx.roles.indexOf(role) >= 0; });
  }
  function sorted(roles) { return JSON.stringify((roles || []).slice().sort()); }

  if (newDoc._deleted === true) {
    var isOwn = oldDoc && oldDoc.name === userCtx.name;
    if (userCtx.roles.indexOf('_admin') < 0 && !isOwn) refuse('Only admins may delete other user docs.');
    return;
  }

  var roles = newDoc.roles, name = newDoc.name, scheme = newDoc.password_scheme;
  if (newDoc.type !== 'user') refuse('doc.type must be user');
  if (!name) refuse('doc.name is required');
  if (!roles) refuse('doc.roles must exist');
  if (!Array.isArray(roles)) refuse('doc.roles must be an array');
  if (!roles.every(function (role) { return typeof role === 'string'; })) refuse('doc.roles can only contain strings');
  if (typeof name !== 'string' || newDoc._id !== 'org.couchdb.user:' + name) {
    refuse('Doc ID must be of the form org.couchdb.user:name');
  }
  if (oldDoc && oldDoc.name !== name) refuse('Usernames can not be changed.');

  if (newDoc.password_sha && !newDoc.salt) refuse('Users with password_sha must have a salt.');
  if (scheme && ['simple', 'pbkdf2', 'simple+pbkdf2'].indexOf(scheme) < 0) {
    refuse('Password scheme `' + scheme + '` not supported.');
  }
  if (scheme === 'pbkdf2') {
    if (typeof newDoc.iterations !== 'number') refuse('iterations must be a number.');
    if (typeof newDoc.derived_key !== 'string') refuse('derived_key must be a string.');
  }

  if (!isAdmin()) {
    if (!oldDoc) {
      if (roles.length > 0) refuse('Only _admin may set roles');
    } else {
      if (name !== userCtx.name) refuse('You may only update your own user document.');
      if (sorted(oldDoc.roles) !== sorted(roles)) refuse('Only _admin may edit roles');
    }
  }

  if (roles.some(function (role) { return role[0] === '_' && role !== '_metrics'; })) {
    refuse('No system roles (starting with underscore) in users db.');
  }
  if (name[0] === '_') refuse('Username may not start with underscore.');
  if (name.indexOf(':') >= 0) refuse('Character `:` is not allowed in usernames.');
}
