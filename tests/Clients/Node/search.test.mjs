import assert from "node:assert/strict";
import { test } from "node:test";
import { ExplainQueryCommand, IndexDefinition, MoreLikeThisStopWords, PointField, PutIndexesOperation, RangeBuilder, WktField } from "ravendb";
import { collect, Company, seed, url, User, withDatabase } from "./support.mjs";

const people = {
    "users/1": new User({ name: "Anna", age: 36, city: "Paris", bio: "A red fox lives in the old garden of the abbey", at: { lat: 48.85, lng: 2.35 }, v: [1, 0, 0] }),
    "users/2": new User({ name: "Annie", age: 20, city: "Reims", bio: "The old dog and the red fox of the garden", at: { lat: 49.255, lng: 4.154 }, v: [0.9, 0.1, 0] }),
    "users/3": new User({ name: "Bob", age: 54, city: "paris", bio: "Nothing about animals, all about stones", at: { lat: 51.5, lng: -0.12 }, v: [0, 1, 0] }),
    "users/4": new User({ name: "Anna", age: 9, city: "Reims", bio: "A fox again", at: { lat: 49.25, lng: 4.15 }, v: [0, 0, 1] }),
    "companies/1": new Company({ name: "Treepie" }),
};

const index = Object.assign(new IndexDefinition(), {
    name: "Users/Search",
    maps: new Set(["from u in docs.Users select new { u.name, u.city, u.age, u.bio }"]),
    fields: { bio: { indexing: "Search", suggestions: true } },
});

const withPeople = check => withDatabase(async store => {
    await seed(store, people);
    await store.maintenance.send(new PutIndexesOperation(index));
    const users = () => store.openSession().query({ documentType: User, collection: "Users" }).waitForNonStaleResults();
    const indexed = () => store.openSession().query({ documentType: User, indexName: "Users/Search" }).waitForNonStaleResults();
    await check({ store, users, indexed });
});

test("suggestions: did you mean", () => withPeople(async ({ users, indexed }) => {
    const one = await users().suggestUsing(x => x.byField("name", "anni")).execute();
    assert.equal(one.name.name, "name");
    assert.deepEqual(one.name.suggestions, ["anna", "annie"]);

    const several = await indexed()
        .suggestUsing(x => x.byField("bio", ["gardan", "abby"]).withDisplayName("Meant").withOptions({ accuracy: 0.4, pageSize: 5, distance: "JaroWinkler", sortMode: "Popularity" }))
        .execute();
    assert.deepEqual(several.Meant.suggestions, ["garden", "abbey"]);

    const lazy = users().suggestUsing(x => x.byField("name", "bobb")).executeLazy();
    assert.deepEqual((await lazy.getValue()).name.suggestions, ["bob"]);
}));

test("more like this", () => withPeople(async ({ store, indexed, users }) => {
    const options = { minimumTermFrequency: 1, minimumDocumentFrequency: 1, fields: ["bio"] };
    const like = await indexed().moreLikeThis(x => x.usingDocument(d => d.whereEquals("id()", "users/1")).withOptions(options)).all();
    assert.equal(like[0].name, "Annie");
    assert.ok(!like.some(user => user.id === "users/1"));
    const any = await users().moreLikeThis(x => x.usingDocument(JSON.stringify({ bio: "stones" })).withOptions(options)).all();
    assert.deepEqual(any.map(user => user.name), ["Bob"]);
    const filtered = await indexed().moreLikeThis(x => x.usingDocument(d => d.whereEquals("id()", "users/1")).withOptions(options)).andAlso().whereLessThan("age", 10).all();
    assert.deepEqual(filtered.map(user => user.age), [9]);
    assert.ok((await users().moreLikeThis(x => x.usingAnyDocument().withOptions(options)).all()).length > 0);
    const session = store.openSession();
    await session.store(Object.assign(new MoreLikeThisStopWords(), { stopWords: ["a", "red", "fox", "lives", "in", "the", "old", "garden", "of"] }), "stop/1");
    await session.saveChanges();
    assert.deepEqual(await indexed().moreLikeThis(x => x.usingDocument(d => d.whereEquals("id()", "users/1")).withOptions({ ...options, stopWordsDocumentId: "stop/1" })).all(), []);
}));

test("facets by term, by range, with sums, and over all results", () => withPeople(async ({ store, users, indexed }) => {
    const byCity = await users().aggregateBy(x => x.byField("city").sumOn("age").averageOn("age")).execute();
    assert.deepEqual(
        byCity.city.values.map(v => [v.range, v.count, v.sum, v.average]).sort(), [["paris", 2, 90, 45], ["reims", 2, 29, 14.5]]);
    const range = RangeBuilder.forPath("age");
    const byAge = await indexed().aggregateBy(x => x.byRanges(range.isLessThan(20), range.isGreaterThanOrEqualTo(20)).withDisplayName("Age")).execute();
    assert.deepEqual(byAge.Age.values.map(v => v.count), [1, 3]);
    const filtered = await users().whereEquals("name", "anna").aggregateBy(x => x.byField("city").withOptions({ pageSize: 1, termSortMode: "CountAsc", includeRemainingTerms: true })).execute();
    assert.deepEqual(filtered.city.values.map(v => v.range), ["paris"]);
    assert.deepEqual(filtered.city.remainingTerms, ["reims"]);
    const lazy = users().aggregateBy(x => x.byField("city")).executeLazy();
    assert.equal((await lazy.getValue()).city.values.length, 2);
    const all = (await users().aggregateBy(x => x.allResults().averageOn("age").maxOn("age")).execute())["@AllResults"];
    assert.deepEqual(all.values.map(v => [v.range, v.count, v.average, v.max]), [["@AllResults", 4, 29.75, 54]]);
    const session = store.openSession();
    const streamed = await collect(await session.advanced.stream(session.advanced.rawQuery("from Users select facet(city)")));
    assert.deepEqual(streamed[0].document.Values.map(v => v.Range), ["paris", "reims"]);
}));

test("found words are highlighted, with tags of one's own", () => withPeople(async ({ users }) => {
    let marked;
    const found = await users().search("bio", "fox garden")
        .highlight({ fieldName: "bio", fragmentLength: 80, fragmentCount: 1, preTags: ["<b>"], postTags: ["</b>"] }, h => marked = h).all();
    assert.equal(found.length, 3);
    assert.match(marked.getFragments("users/2")[0], /red <b>fox<\/b> of the <b>garden<\/b>/);
    assert.equal(marked.fieldName, "bio");
}));

test("scores are explained", () => withPeople(async ({ users }) => {
    let why;
    const [first] = await users().search("bio", "fox").includeExplanations(null, e => why = e).all();
    const text = (why.explanations ?? why)[first.id];
    assert.match(JSON.stringify(text), /fox/);
}));

test("timings tell the parts of a query and how it was run", () => withPeople(async ({ users }) => {
    let timings;
    await users().whereEquals("city", "paris").timings(t => timings = t).all();
    assert.ok(timings.durationInMs >= 0);
    assert.ok(timings.timings);
}));

test("places: within a circle, by distance", () => withPeople(async ({ users }) => {
    const near = await users().spatial(new PointField("at.lat", "at.lng"), c => c.withinRadius(10, 49.255, 4.154)).all();
    assert.deepEqual(near.map(user => user.city), ["Reims", "Reims"]);
    const ordered = await users().orderByDistance(new PointField("at.lat", "at.lng"), 49.255, 4.154).all();
    assert.deepEqual(ordered.map(user => user.id), ["users/2", "users/4", "users/1", "users/3"]);
}));

test("fuzzy, proximity, regex, lucene, intersect, boost", () => withPeople(async ({ users, indexed }) => {
    const names = async query => (await query.all()).map(user => user.id).sort();
    assert.deepEqual(await names(users().whereEquals("name", "ana").fuzzy(0.6)), ["users/1", "users/4"]);
    assert.deepEqual(await names(users().search("bio", "fox garden").proximity(4)), ["users/1", "users/2"]);
    assert.deepEqual(await names(users().whereRegex("name", "^ann")), ["users/1", "users/2", "users/4"]);
    assert.deepEqual(await names(indexed().whereLucene("bio", "fo* AND garden")), ["users/1", "users/2"]);
    assert.deepEqual(await names(users().whereEquals("name", "anna").intersect().whereEquals("city", "reims")), ["users/4"]);
    const best = await users().whereEquals("name", "bob").boost(5).orElse().search("bio", "fox").orderByScore().all();
    assert.equal(best[0].name, "Bob");
    assert.deepEqual(await names(users().whereEndsWith("name", "IE")), ["users/2"]);
}));

test("vectors through RQL, with a filter", () => withPeople(async ({ store }) => {
    const found = await store.openSession().advanced.rawQuery("from Users where age > 10 and vector.search(v, $v, 0.5)", User)
        .addParameter("v", { "@vector": [1, 0, 0] }).waitForNonStaleResults().all();
    assert.deepEqual(found.map(user => user.id), ["users/1", "users/2"]);
}));

test("vectors by every way of the query builder", async t => {
    await withPeople(async ({ users }) => {
        const near = [1, 0, 0], base64 = Buffer.from(new Float32Array(near).buffer).toString("base64"), least = { similarity: 0.5 };
        const cases = {
            "a field": [q => q.vectorSearch("v", near, least), [1, 2]],
            "an embedding": [q => q.vectorSearch(f => f.withEmbedding("v"), f => f.byEmbedding({ "@vector": near }), least), [1, 2]],
            "in bytes": [q => q.vectorSearch(f => f.withEmbedding("v").targetQuantization("Int8"), f => f.byEmbedding(near), least), [1, 2]],
            "base64": [q => q.vectorSearch(f => f.withBase64("v"), f => f.byBase64(base64), least), [1, 2]],
            "several": [q => q.vectorSearch(f => f.withEmbedding("v"), f => f.byEmbeddings([near, [0, 1, 0]]), least), [1, 2, 3]],
            "like a document": [q => q.vectorSearch(f => f.withField("v"), f => f.forDocument("users/1"), least), [1, 2]],
            "compared with all": [q => q.vectorSearch("v", near, { ...least, numberOfCandidates: 10, isExact: true }), [1, 2]],
            "beside a condition": [q => q.whereGreaterThan("age", 30).andAlso().vectorSearch("v", near, least), [1]],
        };
        for (const [name, [build, expected]] of Object.entries(cases))
            await t.test(name, async () => assert.deepEqual((await build(users()).all()).map(user => user.id).sort(), expected.map(i => `users/${i}`)));
        await assert.rejects(users().vectorSearch(f => f.withText("bio"), f => f.byText("animals")).all(), /needs a model/);
    });
});

test("dates are found that were stored by the same client", () => withPeople(async ({ store, users }) => {
    const day = i => new Date(Date.UTC(2024, 0, i));
    await seed(store, Object.fromEntries([1, 2, 3].map(i => [`users/day${i}`, new User({ name: `day${i}`, born: day(i) })])));
    const names = async query => (await query.all()).map(user => user.name).sort();
    assert.deepEqual(await names(users().whereEquals("born", day(2))), ["day2"]);
    assert.deepEqual(await names(users().whereIn("born", [day(1), day(3)])), ["day1", "day3"]);
    assert.deepEqual(await names(users().whereLessThan("born", day(2))), ["day1"]);
    assert.deepEqual(await names(users().whereGreaterThanOrEqual("born", day(2))), ["day2", "day3"]);
    assert.deepEqual(await names(users().whereBetween("born", day(2), day(3))), ["day2", "day3"]);
}));

test("shapes as WKT: what lies in them, crosses them, is nearest", () => withPeople(async ({ store, users }) => {
    await seed(store, {
        "users/line": new User({ name: "line", shape: "LINESTRING (4 49, 5 50)" }), "users/area": new User({ name: "area", shape: "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))" }),
    });
    const shape = new WktField("shape"), names = async query => (await query.all()).map(user => user.name).sort();
    assert.deepEqual(await names(users().spatial(shape, c => c.intersects("LINESTRING (4 50, 5 49)"))), ["line"]);
    assert.deepEqual(await names(users().spatial(shape, c => c.contains("POINT (0.5 0.5)"))), ["area"]);
    assert.deepEqual(await names(users().spatial(shape, c => c.relatesToShape("POLYGON ((3 48, 6 48, 6 51, 3 51, 3 48))", "Within"))), ["line"]);
    assert.deepEqual(await names(users().spatial(shape, c => c.disjoint("CIRCLE (0.5 0.5 d=10)", "Miles", 0.1))), ["line"]);
    assert.deepEqual((await users().whereExists("shape").orderByDistance(shape, 0, 0, "Last").all()).map(user => user.name), ["area", "line"]);
}));

test("which index answers, and what it has of each hit", () => withPeople(async ({ store, users }) => {
    const asked = users().whereEquals("city", "Reims");
    const explain = async () => {
        const command = new ExplainQueryCommand(store.conventions, asked.getIndexQuery());
        await store.getRequestExecutor().execute(command);
        return command.result[0];
    };
    assert.match((await explain()).reason, /does not exist/);
    await asked.all();
    assert.deepEqual(await explain(), { index: "Auto/Users/Bycity", reason: "It has all fields of the query." });
    const response = await fetch(`${url}/databases/${store.database}/queries?debug=entries`, { method: "POST", body: JSON.stringify({ Query: "from Users where city = 'reims' order by id()" }) });
    assert.equal(response.status, 200);
    assert.deepEqual((await response.json()).Results.map(row => [row["@metadata"]["@id"], row.city]), [["users/2", "reims"], ["users/4", "reims"]]);
    const unknown = await fetch(`${url}/databases/${store.database}/queries?debug=all`, { method: "POST", body: JSON.stringify({ Query: "from Users" }) });
    assert.equal(unknown.status, 400);
    assert.match((await unknown.json()).Message, /entries .* or explain/);
}));

test("random order with a seed, natural order, nulls, distinct", () => withPeople(async ({ store, users }) => {
    const first = (await users().randomOrdering("seed").all()).map(user => user.id);
    assert.deepEqual((await users().randomOrdering("seed").all()).map(user => user.id), first);
    assert.deepEqual((await users().orderBy("age", "AlphaNumeric").all()).map(user => user.age), [9, 20, 36, 54]);
    const rows = await store.openSession().advanced.rawQuery("from Users order by name select distinct name").waitForNonStaleResults().all();
    assert.deepEqual(rows.map(row => row.name), ["Anna", "Annie", "Bob"]);
}));
