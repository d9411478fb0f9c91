// The client over HTTPS against a server that 'treepie secure' made, at TREEPIE_URL; certificates in the folder TREEPIE_CERTIFICATES.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import {
    CreateClientCertificateOperation, CreateDatabaseOperation, DeleteCertificateOperation, DeleteDatabasesOperation, DocumentStore, EditClientCertificateOperation,
    GetCertificateMetadataOperation, GetCertificateOperation, GetCertificatesMetadataOperation, GetCertificatesOperation, GetDatabaseNamesOperation, PutClientCertificateOperation
} from "ravendb";
import { seed, User } from "../support.mjs";

const url = process.env.TREEPIE_URL;
const folder = process.env.TREEPIE_CERTIFICATES;
const file = name => readFileSync(join(folder, name));
const ca = file("authority.crt");

const pem = name => ({ type: "pem", certificate: file(name), ca });
const pfx = name => ({ type: "pfx", certificate: file(name), ca });

/** What the client makes of a server that refuses: the name of its error is what programs look at. */
const refusal = words => error => {
    assert.equal(error.name, "AuthorizationException", `${error.name}: ${error.message}`);
    assert.match(error.message, words);
    return true;
};

async function withStore(auth, database, work) {
    const store = new DocumentStore(url, database, auth);
    store.conventions.registerEntityType(User);
    try {
        store.initialize();
        return await work(store);
    } finally {
        store.dispose();
    }
}

/** A database of a test's own, made and deleted by the administrator. */
async function withDatabase(work) {
    const name = `secured-${randomUUID()}`;
    await withStore(pem("admin.pem"), name, async admin => {
        await admin.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name }));
        try {
            await work(name, admin);
        } finally {
            await admin.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true }));
        }
    });
}

const read = (auth, database) => withStore(auth, database, store => store.openSession().load("users/1"));
const write = (auth, database) => withStore(auth, database, store => seed(store, { "users/1": new User({ name: "Ada" }) }));

/** The files of a zip, by their endings. */
function unzip(zip) {
    const files = {};
    for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
        const method = zip.readUInt16LE(at + 8), length = zip.readUInt32LE(at + 18), nameLength = zip.readUInt16LE(at + 26), extra = zip.readUInt16LE(at + 28);
        const name = zip.toString("latin1", at + 30, at + 30 + nameLength), start = at + 30 + nameLength + extra;
        const content = zip.subarray(start, start + length);
        files[name.slice(name.lastIndexOf(".") + 1)] = method === 0 ? Buffer.from(content) : inflateRawSync(content);
        at = start + length;
    }
    return files;
}

async function make(admin, name, clearance, permissions, password) {
    return unzip((await admin.maintenance.server.send(new CreateClientCertificateOperation(name, permissions, clearance, password))).rawData);
}

for (const [kind, auth] of [["PEM", () => pem("admin.pem")], ["PFX", () => pfx("admin.pfx")]]) {
    test(`an administrator with a ${kind} file makes databases, writes, queries and deletes`, async () => {
        const name = `secured-${randomUUID()}`;
        await withStore(auth(), name, async store => {
            await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name }));
            await seed(store, { "users/1": new User({ name: "Ada", age: 36 }), "users/2": new User({ name: "Grace", age: 85 }) });
            const found = await store.openSession().query(User).whereGreaterThan("age", 40).waitForNonStaleResults().all();
            assert.deepEqual(found.map(user => user.name), ["Grace"]);
            const bulk = store.bulkInsert();
            for (let i = 0; i < 100; i++)
                await bulk.store(new User({ name: `User ${i}` }), `bulk/${i}`);
            await bulk.finish();
            assert.equal((await store.openSession().load("bulk/99")).name, "User 99");
            await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true }));
        });
    });
}

test("made certificates work at once, as PEM and PFX: an operator everywhere, a reader and a writer in their database", () => withDatabase(async (name, admin) => {
    await write(pem("admin.pem"), name);
    const operator = await make(admin, "operator", "Operator", {});
    const reader = await make(admin, "reader", "ValidUser", { [name]: "Read" }, "a password");
    const writer = await make(admin, "writer", "ValidUser", { [name]: "ReadWrite" });
    for (const auth of [{ type: "pem", certificate: operator.pem, ca }, { type: "pfx", certificate: operator.pfx, ca }]) {
        await write(auth, name);
        const made = `secured-${randomUUID()}`;
        await withStore(auth, made, async store => {
            await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: made }));
            await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [made], hardDelete: true }));
            await assert.rejects(
                store.maintenance.server.send(new CreateClientCertificateOperation("chief", {}, "ClusterAdmin")), refusal(/Only an administrator/));
        });
    }

    const asReader = { type: "pfx", certificate: reader.pfx, password: "a password", ca };
    assert.equal((await read(asReader, name)).name, "Ada");
    await assert.rejects(write(asReader, name), refusal(/demands ReadWrite/));
    const asWriter = { type: "pem", certificate: writer.pem, ca };
    await write(asWriter, name);
    await withStore(asWriter, name, async store => {
        assert.deepEqual(await store.maintenance.server.send(new GetDatabaseNamesOperation(0, 100)), [name]);
        await assert.rejects(store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: "mine" })), refusal(/clearance Operator/));
    });
}));

test("a user of one database is refused in another, whether it exists or not", () => withDatabase(async (name, admin) => {
    const user = await make(admin, "user", "ValidUser", { [name]: "Admin" });
    const auth = { type: "pem", certificate: user.pem, ca };
    await write(auth, name);
    await withDatabase(async other => assert.rejects(read(auth, other), refusal(/Could not authorize access to database/)));
    await assert.rejects(read(auth, "nowhere"), refusal(/Could not authorize access to database/));
}));

test("unknown, expired and absent certificates are refused with the reason", () => withDatabase(async name => {
    await assert.rejects(read(pem("unknown.pem"), name), refusal(/unknown to this server/));
    await assert.rejects(read(pem("expired.pem"), name), refusal(/expired at/));
    const answer = await withStore(pem("admin.pem"), name, () => read({ type: "pem", certificate: ca, ca }, name)).then(() => null, error => error);
    assert.equal(answer?.name, "AuthorizationException");
}));

test("a registered certificate is listed, edited, renewed and deleted", () => withDatabase(async (name, admin) => {
    const server = admin.maintenance.server;
    const text = file("user.pem").toString();
    const base64 = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/.exec(text)[1].replace(/\s/g, "");
    await assert.rejects(read(pem("user.pem"), name), refusal(/unknown to this server/));
    await server.send(new PutClientCertificateOperation("somebody", base64, { [name]: "ReadWrite" }, "ValidUser"));
    await write(pem("user.pem"), name);

    const listed = (await server.send(new GetCertificatesOperation(0, 1000))).find(one => one.certificate === base64);
    assert.equal(listed.name, "somebody");
    assert.equal(listed.securityClearance, "ValidUser");
    assert.deepEqual(listed.permissions, { [name]: "ReadWrite" });
    assert.ok(listed.notAfter instanceof Date && listed.notAfter > listed.notBefore && listed.publicKeyPinningHash);
    assert.equal((await server.send(new GetCertificateOperation(listed.thumbprint))).certificate, base64);
    const metadata = await server.send(new GetCertificateMetadataOperation(listed.thumbprint));
    assert.equal(metadata.name, "somebody");
    assert.ok(!metadata.certificate);
    assert.equal((await server.send(new GetCertificatesMetadataOperation("somebody"))).length, 1);

    await server.send(new EditClientCertificateOperation({ thumbprint: listed.thumbprint, name: "reader", permissions: { [name]: "Read" }, clearance: "ValidUser" }));
    await assert.rejects(write(pem("user.pem"), name), refusal(/demands ReadWrite/));

    await assert.rejects(read(pem("forged.pem"), name), refusal(/unknown to this server/));
    assert.equal((await read(pem("renewed.pem"), name)).name, "Ada");
    await assert.rejects(write(pem("renewed.pem"), name), refusal(/demands ReadWrite/));

    await server.send(new DeleteCertificateOperation(listed.thumbprint));
    await assert.rejects(read(pem("user.pem"), name), refusal(/unknown to this server/));
    await assert.rejects(read(pem("renewed.pem"), name), refusal(/unknown to this server/));
}));
