import assert from "node:assert/strict";
import { test } from "node:test";
import {
    AbstractCsharpIndexCreationTask, AbstractJavaScriptIndexCreationTask, AbstractJavaScriptMultiMapIndexCreationTask, DeleteIndexErrorsOperation, DeleteIndexOperation, DisableIndexOperation, EnableIndexOperation, GetIndexErrorsOperation, GetIndexesOperation, GetIndexingStatusOperation,
    GetIndexNamesOperation, GetIndexOperation, GetIndexStatisticsOperation, GetTermsOperation, IndexDefinition, IndexHasChangedOperation, PutIndexesOperation, ResetIndexOperation,
    SetIndexesLockOperation, SetIndexesPriorityOperation, StartIndexingOperation, StartIndexOperation, StopIndexingOperation, StopIndexOperation,
} from "ravendb";
import { Company, seed, url, User, withDatabase } from "./support.mjs";

const define = (name, map, fields = {}) => Object.assign(new IndexDefinition(), { name, maps: new Set([map]), fields });

const people = {
    "users/1": new User({ name: "Ada", age: 36, address: { city: "London" }, tags: ["math", "poetry"] }),
    "users/2": new User({ name: "Bob", age: 20, address: { city: "Paris" }, tags: ["music"] }),
    "users/3": new User({ name: "Cyd", age: 54, address: { city: "London" } }),
    "companies/1": new Company({ name: "Treepie" }),
};

const ask = (store, index) => store.openSession().query({ documentType: User, indexName: index }).waitForNonStaleResults();

test("an index defined by hand is put, asked, listed, reset and deleted", () => withDatabase(async store => {
    await seed(store, people);
    const map = "from u in docs.Users select new { u.name, City = u.address.city, Tag = u.tags }";
    const [put] = await store.maintenance.send(new PutIndexesOperation(define("Users/By/City", map)));
    assert.equal(put.index, "Users/By/City");
    assert.deepEqual((await ask(store, "Users/By/City").whereEquals("City", "london").orderBy("name").all()).map(u => u.name), ["Ada", "Cyd"]);
    assert.deepEqual((await ask(store, "Users/By/City").whereEquals("Tag", "music").all()).map(u => u.name), ["Bob"]);

    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), ["Users/By/City"]);
    const index = await store.maintenance.send(new GetIndexOperation("Users/By/City"));
    assert.equal(index.name, "Users/By/City");
    assert.equal(index.type, "Map");
    assert.deepEqual((await store.maintenance.send(new GetIndexesOperation(0, 10))).map(i => i.name), ["Users/By/City"]);
    assert.ok(!await store.maintenance.send(new GetIndexOperation("Nobody")));
    const statistics = await store.maintenance.send(new GetIndexStatisticsOperation("Users/By/City"));
    assert.equal(statistics.entriesCount, 3);
    assert.equal(statistics.errorsCount, 0);
    assert.deepEqual([...statistics.collections.keys()], ["users"]); // as the client spells them

    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(define("Users/By/City", map))), false);
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(define("Users/By/City", "from u in docs.Users select new { u.age }"))), true);

    await store.maintenance.send(new ResetIndexOperation("Users/By/City"));
    assert.equal(await ask(store, "Users/By/City").count(), 3);
    await store.maintenance.send(new DeleteIndexOperation("Users/By/City"));
    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), []);
    await assert.rejects(ask(store, "Users/By/City").all(), { name: "IndexDoesNotExistException" });
}));

test("a JavaScript index that only names paths, with options of its fields", () => withDatabase(async store => {
    await seed(store, people);
    const index = define("Names", "map('Users', u => { return { Who: u.name, Bio: u.bio } })", { Bio: { indexing: "Search", analyzer: "EnglishAnalyzer" } });
    await store.maintenance.send(new PutIndexesOperation(index));
    await seed(store, { "users/4": new User({ name: "Dan", bio: "Runs a laboratory" }) });
    assert.deepEqual((await ask(store, "Names").search("Bio", "running").all()).map(u => u.name), ["Dan"]);
    assert.equal(await ask(store, "Names").whereEquals("Who", "ada").count(), 1);
}));

test("a changed index answers all the time", () => withDatabase(async store => {
    await seed(store, people);
    await store.maintenance.send(new PutIndexesOperation(define("Users", "from u in docs.Users select new { u.name }")));
    await ask(store, "Users").all();
    await store.maintenance.send(new PutIndexesOperation(define("Users", "from u in docs.Users select new { u.name, u.age }")));
    assert.equal(await ask(store, "Users").whereEquals("name", "ada").count(), 1);
    for (let i = 0; i < 6_000 && (await store.maintenance.send(new GetIndexNamesOperation(0, 10))).length > 1; i++)
        await new Promise(resolve => setTimeout(resolve, 50));
    assert.equal(await ask(store, "Users").whereEquals("age", 36).count(), 1);
}));

test("errors are asked for and forgotten", () => withDatabase(async store => {
    await seed(store, people);
    await store.maintenance.send(new PutIndexesOperation(define("Users", "from u in docs.Users select new { u.name }")));
    await ask(store, "Users").all();
    const [errors] = await store.maintenance.send(new GetIndexErrorsOperation(["Users"]));
    assert.equal(errors.name, "Users");
    assert.deepEqual(errors.errors, []);
    await store.maintenance.send(new DeleteIndexErrorsOperation(["Users"]));
}));

test("what cannot be run is refused, with its reason, and nothing changes", () => withDatabase(async (store, name) => {
    const refused = { name: "IndexCompilationException" };
    await assert.rejects(store.maintenance.send(new PutIndexesOperation(define("A", "from u in docs.Users where u.age > 3 select new { A = u.name.Unknown() }"))), refused);
    await assert.rejects(store.maintenance.send(new PutIndexesOperation(define("A", "map('Users', u => ({ n: u.name + 'x' })"))), refused);
    await assert.rejects(
        store.maintenance.send(new PutIndexesOperation(define("B", "from u in docs.Users select new { u.name }"), define("A", "map(")), refused), refused);
    assert.deepEqual(await store.maintenance.send(new GetIndexNamesOperation(0, 10)), []);
    const response = await fetch(`${url}/databases/${name}/admin/indexes`, { method: "PUT", body: JSON.stringify({ Indexes: [{ Name: "A", Fields: { x: { Indexing: "Perhaps" } } }] }) });
    assert.equal(response.status, 400);
    assert.equal((await response.json()).IndexDefinitionProperty, "Fields");
}));

test("an index is locked, given a priority, disabled and stopped, and says so", () => withDatabase(async store => {
    await seed(store, people);
    await store.maintenance.send(new PutIndexesOperation(define("Users", "from u in docs.Users select new { u.name }")));
    await ask(store, "Users").all();
    await store.maintenance.send(new SetIndexesLockOperation("Users", "LockedError"));
    await store.maintenance.send(new SetIndexesPriorityOperation("Users", "High"));
    await assert.rejects(
        store.maintenance.send(new PutIndexesOperation(define("Users", "from u in docs.Users select new { u.age }"))), { name: "IndexCompilationException", message: /locked/ });
    const statistics = await store.maintenance.send(new GetIndexStatisticsOperation("Users"));
    assert.equal(statistics.lockMode, "LockedError");
    assert.equal(statistics.priority, "High");
    await assert.rejects(store.maintenance.send(new SetIndexesPriorityOperation("Nobody", "High")), { name: "IndexDoesNotExistException" });

    const status = async () => (await store.maintenance.send(new GetIndexingStatusOperation())).indexes[0].status;
    await store.maintenance.send(new DisableIndexOperation("Users"));
    assert.equal(await status(), "Disabled");
    assert.equal((await store.maintenance.send(new GetIndexOperation("Users"))).state, "Disabled");
    await seed(store, { "users/9": new User({ name: "Zoe" }) });
    let seen;
    assert.equal(await store.openSession().query({ indexName: "Users" }).whereEquals("name", "Zoe").statistics(s => seen = s).count(), 0);
    assert.equal(seen.isStale, true);
    await store.maintenance.send(new EnableIndexOperation("Users"));
    assert.equal(await ask(store, "Users").whereEquals("name", "Zoe").count(), 1);

    await store.maintenance.send(new StopIndexOperation("Users"));
    assert.equal(await status(), "Paused");
    await store.maintenance.send(new StartIndexOperation("Users"));
    assert.equal(await status(), "Running");
    await store.maintenance.send(new StopIndexingOperation());
    assert.equal((await store.maintenance.send(new GetIndexingStatusOperation())).status, "Paused");
    await store.maintenance.send(new StartIndexingOperation());
    assert.equal((await store.maintenance.send(new GetIndexingStatusOperation())).status, "Running");
}));

test("definitions as the client's own classes make them", async t => {
    class Place extends AbstractJavaScriptIndexCreationTask {
        constructor() {
            super();
            const { createSpatialField } = this.mapUtils();
            this.map("Users", u => ({ name: u.name, place: createSpatialField(u.at.lat, u.at.lng) }));
            this.spatial("place", f => f.geography().defaultOptions());
        }
    }
    class Vectors extends AbstractJavaScriptIndexCreationTask {
        constructor() {
            super();
            const { createVector } = this.mapUtils();
            this.map("Users", u => ({ v: u.v, bytes: createVector(u.v) }));
            this.vectorField("v", { dimensions: 2, sourceEmbeddingType: "Single", destinationEmbeddingType: "Single" });
            this.vectorField("bytes", { sourceEmbeddingType: "Single", destinationEmbeddingType: "Int8", numberOfEdges: 12, numberOfCandidatesForIndexing: 16 });
        }
    }
    class All extends AbstractJavaScriptIndexCreationTask {
        constructor() {
            super();
            this.map("Users", u => ({ name: u.name, collection: getMetadata(u)["@collection"] }));
            this.storeAllFields("Yes");
            this.index("name", "Search");
        }
    }
    class CSharp extends AbstractCsharpIndexCreationTask {
        constructor() {
            super();
            this.map = "docs.Users.Select(u => new { Id = Id(u), place = this.CreateSpatialField((double?)u.at.lat, (double?)u.at.lng) })";
            this.spatial("place", f => f.geography().geohashPrefixTreeIndex(9));
            this.searchEngineType = "Corax";
        }
    }
    class Several extends AbstractJavaScriptMultiMapIndexCreationTask {
        constructor() {
            super();
            this.map("Users", u => ({ name: u.name }));
            this.map("Companies", c => ({ name: c.name }));
        }
    }
    await withDatabase(async store => {
        await seed(store, {
            "users/1": new User({ name: "Ada", at: { lat: 49, lng: 4 }, v: [1, 0] }), "users/2": new User({ name: "Bob", at: { lat: 10, lng: 4 }, v: [0, 1] }),
            "companies/1": new Company({ name: "Treepie" }),
        });
        await store.executeIndexes([new Place(), new Vectors(), new All(), new CSharp(), new Several()]);
        const ids = async query => (await query.waitForNonStaleResults().all()).map(found => found.id).sort();
        const of = name => store.openSession().query({ indexName: name });
        await t.test("places", async () => {
            assert.deepEqual(await ids(of("Place").withinRadiusOf("place", 100, 49, 4, "Miles", 0.01)), ["users/1"]);
            assert.deepEqual(await ids(of("CSharp").relatesToShape("place", "POLYGON ((3 9, 5 9, 5 11, 3 11, 3 9))", "Within")), ["users/2"]);
            assert.deepEqual((await of("Place").orderByDistanceDescending("place", "POINT (4 49)").all()).map(user => user.id), ["users/2", "users/1"]);
        });
        await t.test("vectors", async () => {
            for (const field of ["v", "bytes"])
                assert.deepEqual(await ids(of("Vectors").vectorSearch(f => f.withField(field), f => f.byEmbedding([1, 0.1]), { similarity: 0.9 })), ["users/1"]);
        });
        await t.test("options of all fields", async () => {
            assert.deepEqual(await ids(of("All").search("name", "ada").andAlso().whereEquals("collection", "users")), ["users/1"]);
            for (const behavior of ["FromIndex", "FromIndexOrThrow"])
                assert.deepEqual((await of("All").orderBy("collection").selectFields(["name", "collection"], User, behavior).all()).map(row => row.name).sort(), ["Ada", "Bob"]);
        });
        await t.test("several maps", async () => assert.deepEqual(await ids(of("Several").whereStartsWith("name", "T")), ["companies/1"]));
        await t.test("maps come back as they were put, and have not changed", async () => {
            const kept = await store.maintenance.send(new GetIndexOperation("All"));
            assert.deepEqual([...kept.maps], [...new All().createIndexDefinition().maps]);
            for (const index of [new Place(), new Vectors(), new All(), new CSharp(), new Several()])
                assert.equal(await store.maintenance.send(new IndexHasChangedOperation(index.createIndexDefinition())), false);
        });
    });
});

test("terms of a field are paged", () => withDatabase(async store => {
    await seed(store, people);
    await store.maintenance.send(new PutIndexesOperation(define("Users", "from u in docs.Users select new { u.name }")));
    await ask(store, "Users").all();
    assert.deepEqual(await store.maintenance.send(new GetTermsOperation("Users", "name", null, 2)), ["ada", "bob"]);
    assert.deepEqual(await store.maintenance.send(new GetTermsOperation("Users", "name", "bob", 2)), ["cyd"]);
}));

test("settings of an index are given back, and fields may be kept alone", () => withDatabase(async store => {
    await seed(store, people);
    const definition = define("Users/Kept", "from u in docs.Users select new { u.name }", { name: { indexing: "No", storage: "Yes" } });
    definition.configuration = { "Indexing.MapBatchSize": "128", "Indexing.Corax.IncludeDocumentScore": "true" };
    await store.maintenance.send(new PutIndexesOperation(definition));
    const kept = await store.maintenance.send(new GetIndexOperation("Users/Kept"));
    assert.deepEqual(Object.fromEntries(Object.entries(kept.configuration).map(([key, value]) => [key.toLowerCase(), value])), { "indexing.mapbatchsize": "128", "indexing.corax.includedocumentscore": "true" });
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(definition)), false);
    const rows = await store.openSession().advanced.rawQuery("from index 'Users/Kept' where id() >= 'users/2' order by id() select name").waitForNonStaleResults().all();
    assert.deepEqual(rows.map(row => row.name), ["Bob", "Cyd"]);
    definition.configuration["Indexing.IndexEmptyEntries"] = "false";
    await assert.rejects(store.maintenance.send(new PutIndexesOperation(definition)), /IndexEmptyEntries/);
}));
