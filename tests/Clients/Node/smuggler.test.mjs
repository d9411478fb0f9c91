import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import {
    ConfigureExpirationOperation, ConfigureRefreshOperation, DatabaseSmugglerExportOptions, DatabaseSmugglerImportOptions, DeleteDatabasesOperation, GetDatabaseRecordOperation, GetStatisticsOperation,
    NextIdentityForCommand, PutDatabaseSettingsOperation,
} from "ravendb";
import { Company, seed, url, User, withDatabase } from "./support.mjs";

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

const transforming = (options, transformScript) => Object.assign(options, { transformScript });

const names = async store => {
    const users = await store.openSession().query({ collection: "Users", documentType: User }).waitForNonStaleResults().all();
    return users.map(user => user.name).sort();
};

test("a script changes and drops the documents of an export, with what lies beside them", () => withFolder(folder => withDatabase(async store => {
    const file = join(folder, "transformed.ravendbdump");
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }), "users/2": new User({ name: "Bob" }), "users/3": new User({ name: "Cid" }), "companies/1": new Company({ name: "Acme" }) });
    const session = store.openSession();
    for (const id of ["users/1", "users/2", "users/3"]) {
        session.countersFor(id).increment("likes", 3);
        session.advanced.attachments.store(id, "note.txt", Buffer.from(`note of ${id}`), "text/plain");
        session.timeSeriesFor(id, "Heartrate").append(new Date(Date.UTC(2026, 0, 1)), [60]);
    }
    await session.saveChanges();
    const options = transforming(new DatabaseSmugglerExportOptions(), `
        if (this.name === 'Bob')
            throw 'skip';
        if (this.name === 'Cid')
            return null;
        this.name = this.name.toUpperCase() + ' of ' + load('companies/1').name;
        this['@metadata'].checked = true;
        delete this['@metadata']['@change-vector'];`);
    await (await store.smuggler.export(options, file)).waitForCompletion();
    const dump = gunzipSync(readFileSync(file)).toString();
    assert.ok(dump.includes("note of users/1"));
    for (const gone of ["note of users/2", "users/2", "users/3", "Bob"])
        assert.equal(dump.includes(gone), false, gone);

    await withDatabase(async other => {
        await (await other.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion();
        assert.equal(await count(other), 2);
        const read = other.openSession();
        const user = await read.load("users/1", User);
        assert.deepEqual([user.name, user.age, read.advanced.getMetadataFor(user).checked], ["ADA of Acme", 36, true]);
        assert.equal(await read.countersFor("users/1").get("likes"), 3);
        assert.equal((await read.timeSeriesFor("users/1", "Heartrate").get()).length, 1);
        assert.ok(await read.advanced.attachments.exists("users/1", "note.txt"));
        assert.equal(await read.countersFor("users/2").get("likes"), null);
    });

    // Counts and content hash of the dump are those of what it holds, which a restore compares.
    const form = new FormData(), restored = `restored-${randomUUID()}`;
    form.append("importOptions", "{}");
    form.append("file", new Blob([readFileSync(file)]), "dump");
    const answer = await fetch(`${url}/admin/restore/upload?name=${restored}`, { method: "POST", body: form });
    assert.equal(answer.status, 201, await answer.clone().text());
    assert.equal((await answer.json()).Documents, 2);
    await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [restored], hardDelete: true }));
})));

test("a script changes and drops the documents of an import", () => withFolder(folder => withDatabase(async store => {
    const file = join(folder, "all.ravendbdump");
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }), "users/2": new User({ name: "Bob" }) });
    await (await store.smuggler.export(new DatabaseSmugglerExportOptions(), file)).waitForCompletion();
    await withDatabase(async other => {
        const options = transforming(new DatabaseSmugglerImportOptions(), "if (this.name === 'Bob') throw 'skip'; this.name += '!'; this.added = 1.50;");
        await (await other.smuggler.import(options, file)).waitForCompletion();
        assert.deepEqual(await names(other), ["Ada!"]);
        assert.equal((await other.openSession().load("users/1")).added, 1.5);
    });
})));

test("a script that cannot be read or fails is refused, and the document is named", () => withFolder(folder => withDatabase(async (store, name) => {
    const file = join(folder, "all.ravendbdump");
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const send = script => fetch(`${url}/databases/${name}/smuggler/export`, { method: "POST", body: JSON.stringify({ TransformScript: script }) });
    assert.match(await (await send("if (")).text(), /cannot be read/);
    await (await store.smuggler.export(new DatabaseSmugglerExportOptions(), file)).waitForCompletion();
    await withDatabase(async other => {
        for (const [script, reason] of [
            ["if (this.name === 'Bob') throw 'no'", /users\/2.*no/s], ["for (;;) { }", /users\/1.*100,000 statements/s], ["this.name.none.at()", /users\/1/],
            ["this['@metadata']['@id'] = 'users/9'", /users\/1.*another id/s], ["put('a', {})", /users\/1.*only reads/s],
        ]) {
            const options = transforming(new DatabaseSmugglerImportOptions(), script);
            await assert.rejects(async () => (await other.smuggler.import(options, file)).waitForCompletion(), reason);
        }
    });
    const failing = transforming(new DatabaseSmugglerExportOptions(), "throw 'this is wrong'");
    await assert.rejects(async () => (await store.smuggler.export(failing, file)).waitForCompletion(), /users\/1.*this is wrong/s);
})));

test("an export and an import take the parts of the database record that they name", () => withFolder(folder => withDatabase(async (store, name) => {
    const file = join(folder, "record.ravendbdump");
    await store.maintenance.send(new ConfigureExpirationOperation({ disabled: false, deleteFrequencyInSec: 77 }));
    await store.maintenance.send(new ConfigureRefreshOperation({ disabled: false, refreshFrequencyInSec: 66 }));
    await store.maintenance.send(new PutDatabaseSettingsOperation(name, { Limit: "7" }));
    const configured = async (of, database) => {
        const record = await of.maintenance.server.send(new GetDatabaseRecordOperation(database));
        return [record.expiration?.deleteFrequencyInSec, record.refresh?.refreshFrequencyInSec, record.settings.Limit];
    };
    const options = new DatabaseSmugglerExportOptions();
    options.operateOnDatabaseRecordType = ["Expiration", "Settings"];
    await (await store.smuggler.export(options, file)).waitForCompletion();
    const dump = JSON.parse(gunzipSync(readFileSync(file)).toString());
    assert.deepEqual([dump.DatabaseRecord.Expiration.DeleteFrequencyInSec, dump.DatabaseRecord.Refresh], [77, undefined]);
    await withDatabase(async (other, database) => {
        await (await other.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion();
        assert.deepEqual(await configured(other, database), [77, undefined, "7"]);
    });
    await withDatabase(async (other, database) => {
        const some = new DatabaseSmugglerImportOptions();
        some.operateOnDatabaseRecordType = ["Settings"];
        await (await other.smuggler.import(some, file)).waitForCompletion();
        assert.deepEqual(await configured(other, database), [undefined, undefined, "7"]);
    });
})));

test("indexes that queries made are dumped as RavenDB has them, and read so", () => withFolder(folder => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 36, tags: ["a", "b"] }), "users/2": new User({ name: "Bob", age: 4, tags: ["a"] }) });
    const session = store.openSession();
    const groups = (of, query) => of.advanced.rawQuery(query).waitForNonStaleResults().all();
    await groups(session, "from Users group by name where count() > 0 select name, count() as number, sum(age) as total");
    await groups(session, "from Users group by array(tags[]) select key() as all, count() as number");
    await groups(session, "from Users where search(name, 'ada')");
    const file = join(folder, "indexes.ravendbdump");
    await (await store.smuggler.export(new DatabaseSmugglerExportOptions(), file)).waitForCompletion();
    const dump = JSON.parse(gunzipSync(readFileSync(file)).toString());
    const sorted = dump.Indexes.map(index => ({ ...index.IndexDefinition, Of: index.Type })).filter(index => index.Of === "AutoMapReduce");
    const [byTags, byName] = [sorted.find(index => /tags/.test(index.Name)), sorted.find(index => /name/.test(index.Name))];
    assert.deepEqual(byName.GroupByFields.map(field => [field.Name, field.GroupByArrayBehavior]), [["name", "NotApplicable"]]);
    assert.deepEqual(byName.MapFields.map(field => [field.Name, field.Aggregation]), [["Count", "Count"], ["age", "Sum"]]);
    assert.deepEqual(byTags.GroupByFields.map(field => [field.Name, field.GroupByArrayBehavior]), [["tags[]", "ByContent"]]);

    // As another program writes it: without what is ours.
    const foreign = { BuildVersion: 71, Docs: dump.Docs, Indexes: dump.Indexes.map(index => ({ Type: index.Type, IndexDefinition: index.IndexDefinition })) };
    writeFileSync(file, gzipSync(JSON.stringify(foreign)));
    await withDatabase(async (other, database) => {
        await (await other.smuggler.import(new DatabaseSmugglerImportOptions(), file)).waitForCompletion();
        const indexes = async of => (await (await fetch(`${url}/databases/${of}/indexes?namesOnly=true`)).json()).Results.filter(index => index.includes("Reduced"));
        assert.deepEqual(await indexes(database), await indexes(name));
        const found = await groups(other.openSession(), "from Users group by name where count() > 0 order by name select name, sum(age) as total");
        assert.deepEqual(found.map(group => group.total), [36, 4]);
        assert.deepEqual(await indexes(database), await indexes(name));
    });
})));

test("operations of an export and an import tell what they did by section", () => withFolder(folder => withDatabase(async (store, name) => {
    const file = join(folder, "all.ravendbdump");
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const session = store.openSession();
    session.countersFor("users/1").increment("likes", 3);
    await session.saveChanges();
    const resultOf = async (database, operation) => {
        await operation.waitForCompletion();
        return (await (await fetch(`${url}/databases/${database}/operations/state?id=${operation.id}`)).json()).Result;
    };
    const exported = await resultOf(name, await store.smuggler.export(new DatabaseSmugglerExportOptions(), file));
    assert.deepEqual([exported.$type, exported.Documents.ReadCount], ["Raven.Client.Documents.Smuggler.SmugglerResult, Raven.Client", 2]);
    await withDatabase(async (other, database) => {
        const imported = await resultOf(database, await other.smuggler.import(new DatabaseSmugglerImportOptions(), file));
        assert.deepEqual(
            [imported.$type, imported.Documents.ReadCount, imported.Documents.SkippedCount, imported.Counters.ReadCount, imported.Counters.Processed],
            ["Raven.Client.Documents.Smuggler.SmugglerResult, Raven.Client", 2, 0, 1, true]);
    });
})));
