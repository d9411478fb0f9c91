import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { DatabaseSmugglerExportOptions, DatabaseSmugglerImportOptions, GetStatisticsOperation, NextIdentityForCommand } from "ravendb";
import { Company, seed, User, withDatabase } from "./support.mjs";

const withFolder = async work => {
    const folder = mkdtempSync(join(tmpdir(), "treepie-node-"));
    try {
        await work(folder);
    } finally {
        rmSync(folder, { recursive: true });
    }
};

const count = async store => (await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments;

test("what the client exports it imports into another database", () => withFolder(folder => withDatabase(async store => {
    const file = join(folder, "all.ravendbdump");
    await seed(store, { "users/1": new User({ name: "Ada é \"q\"", age: 36 }), "users/2": new User({ name: "Bob" }), "companies/1": new Company({ name: "Acme" }) });
    for (let i = 0; i < 3; i++)
        await store.getRequestExecutor().execute(new NextIdentityForCommand("invoices|"));
    const operation = await store.smuggler.export(new DatabaseSmugglerExportOptions(), file);
    await operation.waitForCompletion();
    const dump = JSON.parse(gunzipSync(readFileSync(file)).toString());
    assert.deepEqual(dump.Docs.map(document => document["@metadata"]["@id"]), ["users/1", "users/2", "companies/1"]);
    assert.deepEqual(dump.Identities, [{ Key: "invoices|", Value: "3" }]);

    await withDatabase(async other => {
        await (await other.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion();
        assert.equal(await count(other), 3);
        const session = other.openSession();
        const user = await session.load("users/1", User);
        assert.equal(user.name, "Ada é \"q\"");
        assert.equal(user.age, 36);
        assert.equal(session.advanced.getMetadataFor(user)["@collection"], "Users");
        const next = new NextIdentityForCommand("invoices|");
        await other.getRequestExecutor().execute(next);
        assert.equal(next.result, 4);
    });
})));

test("an export takes the collections it was asked for, and zstd if it likes", () => withFolder(folder => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "companies/1": new Company({ name: "Acme" }) });
    const file = join(folder, "users.ravendbdump");
    const options = new DatabaseSmugglerExportOptions();
    options.collections = ["Companies"];
    options.compressionAlgorithm = "Zstd";
    await (await store.smuggler.export(options, file)).waitForCompletion();
    assert.deepEqual([...readFileSync(file).subarray(0, 4)], [0x28, 0xb5, 0x2f, 0xfd]);
    await withDatabase(async other => {
        await (await other.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion();
        assert.equal(await count(other), 1);
        assert.equal((await other.openSession().load("companies/1", Company)).name, "Acme");
    });
})));

test("an export sealed with a key is opened with that key and with no other", () => withFolder(folder => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "marker-3b7" }) });
    const file = join(folder, "sealed.ravendbdump");
    const options = new DatabaseSmugglerExportOptions();
    options.encryptionKey = Buffer.from(Array.from({ length: 32 }, (_, i) => i + 1)).toString("base64");
    await (await store.smuggler.export(options, file)).waitForCompletion();
    assert.equal(readFileSync(file).indexOf("marker-3b7"), -1);
    await withDatabase(async other => {
        await assert.rejects(async () => (await other.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion(), /no key was given/);
        const wrong = new DatabaseSmugglerImportOptions();
        wrong.encryptionKey = Buffer.from(Array.from({ length: 32 }, (_, i) => i + 2)).toString("base64");
        await assert.rejects(async () => (await other.smuggler.import(wrong, file)).waitForCompletion(), /another key/);
        assert.equal(await count(other), 0);
        const right = new DatabaseSmugglerImportOptions();
        right.encryptionKey = options.encryptionKey;
        await (await other.smuggler.import(right, file)).waitForCompletion();
        assert.equal(await count(other), 1);
    });
})));

test("a damaged dump says what is wrong with it", () => withFolder(folder => withDatabase(async store => {
    const file = join(folder, "bad.ravendbdump");
    for (const [content, reason] of [["{\"Docs\":[{\"@metadata\":{\"@id\":\"a\"}}", /cut off/], ["nothing", /no backup/]]) {
        writeFileSync(file, gzipSync(content));
        await assert.rejects(async () => (await store.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion(), reason);
    }
})));
