import assert from "node:assert/strict";
import { test } from "node:test";
import { IndexDefinition, PointField, PutIndexesOperation, RangeBuilder } from "ravendb";
import { Company, seed, User, withDatabase } from "./support.mjs";

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

test("more like this", () => withPeople(async ({ indexed, users }) => {
    const options = { minimumTermFrequency: 1, minimumDocumentFrequency: 1, fields: ["bio"] };
    const like = await indexed().moreLikeThis(x => x.usingDocument(d => d.whereEquals("id()", "users/1")).withOptions(options)).all();
    assert.equal(like[0].name, "Annie");
    assert.ok(!like.some(user => user.id === "users/1"));
    const any = await users().moreLikeThis(x => x.usingDocument(JSON.stringify({ bio: "stones" })).withOptions(options)).all();
    assert.deepEqual(any.map(user => user.name), ["Bob"]);
    const filtered = await indexed().moreLikeThis(x => x.usingDocument(d => d.whereEquals("id()", "users/1")).withOptions(options)).andAlso().whereLessThan("age", 10).all();
    assert.deepEqual(filtered.map(user => user.age), [9]);
}));

test("facets by term, by range, with sums, and over all results", () => withPeople(async ({ users, indexed }) => {
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

test("random order with a seed, natural order, nulls, distinct", () => withPeople(async ({ store, users }) => {
    const first = (await users().randomOrdering("seed").all()).map(user => user.id);
    assert.deepEqual((await users().randomOrdering("seed").all()).map(user => user.id), first);
    assert.deepEqual((await users().orderBy("age", "AlphaNumeric").all()).map(user => user.age), [9, 20, 36, 54]);
    const rows = await store.openSession().advanced.rawQuery("from Users order by name select distinct name").waitForNonStaleResults().all();
    assert.deepEqual(rows.map(row => row.name), ["Anna", "Annie", "Bob"]);
}));
