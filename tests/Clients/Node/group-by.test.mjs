import assert from "node:assert/strict";
import { test } from "node:test";
import { GetIndexOperation, GetIndexStatisticsOperation, GroupByField } from "ravendb";
import { seed, withDatabase } from "./support.mjs";

class Order {
    constructor(fields) {
        Object.assign(this, fields);
    }
}

const orders = {
    "orders/1": new Order({ shipTo: { city: "Berlin", country: "DE" }, freight: 0.1, employee: "employees/1", lines: [{ product: "tea", quantity: 2 }, { product: "salt", quantity: 1 }] }),
    "orders/2": new Order({ shipTo: { city: "Bern", country: "CH" }, freight: 10, employee: "employees/2", lines: [{ product: "tea", quantity: 5 }] }),
    "orders/3": new Order({ shipTo: { city: "Berlin", country: "DE" }, freight: 0.2, employee: "employees/2", lines: [] }),
    "orders/4": new Order({ shipTo: { city: null, country: "DE" }, freight: 3, employee: "employees/1", lines: [{ product: "tea", quantity: 1 }, { product: "salt", quantity: 1 }] }),
};

const withOrders = check => withDatabase(async store => {
    await seed(store, orders);
    const grouped = (...keys) => store.openSession().query({ collection: "Orders" }).waitForNonStaleResults().groupBy(...keys);
    const asked = async (text, parameters = {}) => {
        const query = store.openSession().advanced.rawQuery(text).waitForNonStaleResults();
        for (const [name, value] of Object.entries(parameters))
            query.addParameter(name, value);
        return (await query.all()).map(plain);
    };
    await check({ store, grouped, asked });
});

const plain = row => {
    const copy = { ...row };
    delete copy["@metadata"];
    return copy;
};

class Group {
    constructor(fields) {
        Object.assign(this, fields);
    }
}

test("groups by a key, with count and sum", async () => {
    await withOrders(async ({ grouped }) => {
        const found = await grouped("shipTo.city").selectKey("shipTo.city", "city").selectSum(new GroupByField("freight", "total")).ofType(Group).all();
        assert.deepEqual(Object.fromEntries(found.map(row => [row.city, row.total])), { Berlin: 0.3, Bern: 10, null: 3 });
        const counted = await grouped("shipTo.city").selectKey("shipTo.city", "city").selectCount("orders").ofType(Group).all();
        assert.deepEqual(Object.fromEntries(counted.map(row => [row.city, row.orders])), { Berlin: 2, Bern: 1, null: 1 });
    });
});

test("groups by several keys", async () => {
    await withOrders(async ({ grouped }) => {
        const found = await grouped("employee", "shipTo.country").selectKey("employee", "who").selectKey("shipTo.country", "country").selectCount("orders").ofType(Group).all();
        assert.deepEqual(found.map(row => `${row.who} ${row.country} ${row.orders}`).sort(), ["employees/1 DE 2", "employees/2 CH 1", "employees/2 DE 1"]);
    });
});

test("orders and filters by aggregates", async () => {
    await withOrders(async ({ asked }) => {
        assert.deepEqual(
            await asked("from Orders group by employee where sum(freight) > $least order by sum(freight) as double desc select employee, sum(freight) as total", { least: 3.05 }),
            [{ employee: "employees/2", total: 10.2 }, { employee: "employees/1", total: 3.1 }]);
    });
});

test("groups by values of arrays, and by their content", async () => {
    await withOrders(async ({ asked }) => {
        assert.deepEqual(
            await asked("from Orders group by lines[].product order by count() as long desc select key() as product, count() as lines, sum(lines[].quantity) as pieces"),
            [{ product: "tea", lines: 3, pieces: 8 }, { product: "salt", lines: 2, pieces: 2 }]);
        assert.deepEqual(
            await asked("from Orders group by array(lines[].product) order by count() as long desc, key() select key() as products, count() as orders limit 1"),
            [{ products: ["tea", "salt"], orders: 2 }]);
    });
});

test("says which index answered, and what is wrong with a query", async () => {
    await withOrders(async ({ store }) => {
        let statistics;
        await store.openSession().query({ collection: "Orders" }).waitForNonStaleResults().statistics(it => statistics = it)
            .groupBy("employee").selectKey().selectCount().ofType(Group).all();
        assert.equal(statistics.indexName, "Auto/Orders/ByCountReducedByemployee");
        assert.equal(statistics.totalResults, 2);
        await assert.rejects(store.openSession().advanced.rawQuery("from Orders group by employee select freight").all(), /no key of 'group by'/);
    });
});

test("says what an index of groups is", async () => {
    await withOrders(async ({ store, asked }) => {
        await asked("from Orders group by employee select employee, count()");
        const statistics = await store.maintenance.send(new GetIndexStatisticsOperation("Auto/Orders/ByCountReducedByemployee"));
        assert.equal(statistics.type, "AutoMapReduce");
        assert.equal(statistics.entriesCount, 2);
        assert.equal(statistics.errorsCount, 0);
        const definition = await store.maintenance.send(new GetIndexOperation("Auto/Orders/ByCountReducedByemployee"));
        assert.equal(definition.type, "AutoMapReduce");
    });
});

test("filters groups, loads by their keys and computes with them", async () => {
    await withOrders(async ({ store, asked }) => {
        await seed(store, { "employees/1": new Group({ name: "Ada" }) });
        assert.deepEqual(
            await asked("from Orders group by employee order by employee filter sum(freight) > count() select employee, count() as n"),
            [{ employee: "employees/1", n: 2 }, { employee: "employees/2", n: 2 }]);
        assert.deepEqual(
            await asked("from Orders as o group by o.employee order by o.employee load o.employee as e select { who: e ? e.name : o.employee, mean: sum(o.freight) / count() }"),
            [{ who: "Ada", mean: 1.55 }, { who: "employees/2", mean: 5.1 }]);
    });
});

test("groups the documents that meet a condition", async () => {
    await withOrders(async ({ asked }) => {
        assert.deepEqual(
            await asked("from Orders (freight > $least) group by employee order by employee select employee, count() as n, sum(freight) as total", { least: 0.15 }),
            [{ employee: "employees/1", n: 1, total: 3 }, { employee: "employees/2", n: 2, total: 10.2 }]);
    });
});
