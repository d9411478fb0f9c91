import assert from "node:assert/strict";
import { test } from "node:test";
import { AbstractRawJavaScriptIndexCreationTask, GetIndexOperation, IndexHasChangedOperation } from "ravendb";
import { seed, withDatabase } from "./support.mjs";

class Order {
    constructor(fields) {
        Object.assign(this, fields);
    }
}

const orders = {
    "orders/1": new Order({ city: "Bern", at: "2026-01-05T10:00:00.0000000", freight: 2 }),
    "orders/2": new Order({ city: "Bern", at: "2026-01-06T10:00:00.0000000", freight: 3 }),
    "orders/3": new Order({ city: "Rome", at: "2026-02-07T10:00:00.0000000", freight: 5 }),
};

class Orders_Monthly extends AbstractRawJavaScriptIndexCreationTask {
    constructor(collection = "MonthlyOrders") {
        super();
        this.maps.add("map('Orders', o => ({ city: o.city, month: o.at.substr(0, 7) + '-01T00:00:00.0000000', total: o.freight }))");
        this.reduce = "groupBy(x => ({ city: x.city, month: x.month })).aggregate(g => ({ city: g.key.city, month: g.key.month, total: g.values.reduce((s, v) => s + v.total, 0) }))";
        this.outputReduceToCollection = collection;
        this.patternForOutputReduceToCollectionReferences = "reports/{month:yyyy-MM}";
        this.patternReferencesCollectionName = "MonthlyReports";
    }
}

const caughtUp = store => store.openSession().query({ indexName: "Orders/Monthly" }).waitForNonStaleResults().all();
const totals = async store => (await store.openSession().query({ collection: "MonthlyOrders" }).waitForNonStaleResults().all())
    .map(row => `${row.city} ${row.month.slice(0, 7)} ${row.total}`).sort();

test("an index writes what it reduces as documents, and lists of them", () => withDatabase(async store => {
    await seed(store, orders);
    await store.executeIndex(new Orders_Monthly());
    await caughtUp(store);
    assert.deepEqual(await totals(store), ["Bern 2026-01 5", "Rome 2026-02 5"]);
    const session = store.openSession();
    const report = await session.include("ReduceOutputs").load("reports/2026-01");
    assert.equal(report["@metadata"]["@collection"], "MonthlyReports");
    assert.equal(report.ReduceOutputs.length, 1);
    const output = await session.load(report.ReduceOutputs[0]);
    assert.equal(session.advanced.numberOfRequests, 1);
    assert.equal(output.total, 5);
    assert.equal(output["@metadata"]["@flags"], "Artificial, FromIndex");

    await session.delete("orders/1");
    await session.saveChanges();
    await caughtUp(store);
    assert.deepEqual(await totals(store), ["Bern 2026-01 3", "Rome 2026-02 5"]);
}));

test("a definition with outputs comes back as it was put", () => withDatabase(async store => {
    await store.executeIndex(new Orders_Monthly());
    const index = await store.maintenance.send(new GetIndexOperation("Orders/Monthly"));
    assert.equal(index.outputReduceToCollection, "MonthlyOrders");
    assert.equal(index.patternForOutputReduceToCollectionReferences, "reports/{month:yyyy-MM}");
    assert.equal(index.patternReferencesCollectionName, "MonthlyReports");
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(index)), false);
    index.patternForOutputReduceToCollectionReferences = "reports/{city}";
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(index)), true);
}));

test("an index that would read what it writes is refused", () => withDatabase(async store => {
    await assert.rejects(store.executeIndex(new Orders_Monthly("Orders")), /it would never come to an end/);
    assert.equal(await store.maintenance.send(new GetIndexOperation("Orders/Monthly")) ?? null, null);
}));
