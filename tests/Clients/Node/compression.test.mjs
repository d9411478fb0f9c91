// Documents kept compressed, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    CreateDatabaseOperation, DeleteDatabasesOperation, GetDatabaseRecordOperation, UpdateDocumentsCompressionConfigurationOperation,
} from "ravendb";
import { User, openStore, withDatabase } from "./support.mjs";

const sentence = "The quick brown fox jumps over the lazy dog while everybody looks the other way";

test("compressed documents are read, queried and changed as others", () => withDatabase(async (store, name) => {
    const result = await store.maintenance.send(
        new UpdateDocumentsCompressionConfigurationOperation({ collections: ["Users"], compressRevisions: true }));
    assert.ok(result.raftCommandIndex > 0);
    const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(name));
    assert.deepEqual(record.documentsCompression.collections, ["Users"]);
    assert.equal(record.documentsCompression.compressAllCollections, false);
    assert.equal(record.documentsCompression.compressRevisions, true);
    const bulk = store.bulkInsert();
    for (let i = 0; i < 2_000; i++)
        await bulk.store(new User({ name: `${sentence} ${i}`, age: i % 90 }), `users/${i}`);
    await bulk.finish();
    // what the background run has packed by now, and what is packed on the way, looks the same
    for (let round = 0; round < 3; round++) {
        const session = store.openSession();
        const user = await session.load("users/77", User);
        assert.equal(user.name, `${sentence} 77${"!".repeat(round)}`);
        user.name += "!";
        await session.saveChanges();
        const found = await store.openSession().query({ collection: "Users", documentType: User })
            .whereEquals("age", 42).waitForNonStaleResults().all();
        assert.equal(found.length, 22);
        await new Promise(resolve => setTimeout(resolve, 2_500));
    }
}));

test("the record of a new database says what is compressed", () => withDatabase(async (store, name) => {
    const other = `${name}-b`;
    await store.maintenance.server.send(
        new CreateDatabaseOperation({ databaseName: other, documentsCompression: { compressAllCollections: true } }));
    const made = openStore(other);
    try {
        const record = await made.maintenance.server.send(new GetDatabaseRecordOperation(other));
        assert.equal(record.documentsCompression.compressAllCollections, true);
        await made.maintenance.send(new UpdateDocumentsCompressionConfigurationOperation({ collections: [] }));
        assert.equal((await made.maintenance.server.send(new GetDatabaseRecordOperation(other))).documentsCompression, undefined);
        await assert.rejects(
            made.maintenance.send(new UpdateDocumentsCompressionConfigurationOperation({ compressRevisions: true })),
            /of revisions alone/);
    } finally {
        made.dispose();
        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [other], hardDelete: true }));
    }
}));
