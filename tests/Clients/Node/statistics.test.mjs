import assert from "node:assert/strict";
import { test } from "node:test";
import {
    GetCollectionStatisticsOperation, GetDetailedCollectionStatisticsOperation, GetDetailedStatisticsOperation, GetEssentialStatisticsOperation,
    GetIndexesStatisticsOperation, GetIndexNamesOperation, GetIndexOperation, GetIndexErrorsOperation, GetStatisticsOperation, DeleteIndexOperation, ResetIndexOperation,
} from "ravendb";
import { Company, seed, User, withDatabase } from "./support.mjs";

const entities = () => ({
    "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }), "users/3": new User({ name: "Cy" }), "companies/1": new Company({ name: "Treepie" }),
});

test("collections are counted", () => withDatabase(async store => {
    await seed(store, entities());
    const statistics = await store.maintenance.send(new GetCollectionStatisticsOperation());
    assert.equal(statistics.countOfDocuments, 4);
    assert.deepEqual(statistics.collections, { Users: 3, Companies: 1 });

    const detailed = await store.maintenance.send(new GetDetailedCollectionStatisticsOperation());
    // The client lower-cases the first letter of these names.
    assert.equal(detailed.collections.users.countOfDocuments, 3);
    assert.ok(detailed.collections.users.size.sizeInBytes > 0);

    const session = store.openSession();
    await session.delete("companies/1");
    await session.saveChanges();
    assert.deepEqual((await store.maintenance.send(new GetCollectionStatisticsOperation())).collections, { Users: 3 });
}));

test("a database's figures follow what was done to it", () => withDatabase(async store => {
    const empty = await store.maintenance.send(new GetStatisticsOperation());
    assert.equal(empty.countOfDocuments, 0);
    await seed(store, entities());
    const session = store.openSession();
    await session.delete("users/3");
    await session.saveChanges();
    const statistics = await store.maintenance.send(new GetStatisticsOperation());
    assert.equal(statistics.countOfDocuments, 3);
    assert.equal(statistics.countOfTombstones, 1);
    assert.equal(statistics.lastDocEtag, 5);
    assert.ok(statistics.databaseChangeVector.startsWith("A:5-"));
    assert.ok(statistics.sizeOnDisk.sizeInBytes > 0);
    assert.match(statistics.databaseId, /^[0-9a-f-]{36}$/);
    assert.equal((await store.maintenance.send(new GetDetailedStatisticsOperation())).countOfDocuments, 3);
    assert.equal((await store.maintenance.send(new GetEssentialStatisticsOperation())).countOfDocuments, 3);
}));

test("the index a query makes is listed, described, counted, reset and deleted", () => withDatabase(async store => {
    await seed(store, entities());
    await store.openSession().query({ collection: "Users" }).whereEquals("name", "Ada").waitForNonStaleResults().all();
    const names = await store.maintenance.send(new GetIndexNamesOperation(0, 10));
    assert.deepEqual(names, ["Auto/Users/Byname"]);
    const definition = await store.maintenance.send(new GetIndexOperation(names[0]));
    assert.equal(definition.name, names[0]);
    assert.ok(!(await store.maintenance.send(new GetIndexOperation("Auto/Nothing/ByNothing"))));

    const [statistics] = await store.maintenance.send(new GetIndexesStatisticsOperation());
    assert.equal(statistics.entriesCount, 3);
    assert.equal(statistics.isStale, false);
    const [errors] = await store.maintenance.send(new GetIndexErrorsOperation());
    assert.deepEqual(errors.errors, []);

    await store.maintenance.send(new ResetIndexOperation(names[0]));
    const again = await store.openSession().query({ collection: "Users" }).whereEquals("name", "Ada").waitForNonStaleResults().all();
    assert.equal(again.length, 1);

    await store.maintenance.send(new DeleteIndexOperation(names[0]));
    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), []);
}));
