// What is not here: reads say that there is none, changes are refused by name, and no path of the client is unknown.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
    GetConnectionStringsOperation, GetLogsConfigurationOperation, GetPeriodicBackupStatusOperation, GetServerWideBackupConfigurationsOperation,
    GetRemoteAttachmentsConfigurationOperation, GetSchemaValidationConfiguration, PutConnectionStringOperation, PutServerWideExternalReplicationOperation, RavenConnectionString, SetLogsConfigurationOperation,
} from "ravendb";
import { url, withDatabase } from "./support.mjs";

test("what there is none of is answered so", () => withDatabase(async (store, name) => {
    const { maintenance } = store, { server } = maintenance;
    for (const query of ["key=7&type=Backup", "taskName=none&type=Backup", "key=7&type=Replication", "key=7&type=RavenEtl", "taskName=a&type=QueueSink"]) {
        const answer = await fetch(`${url}/databases/${name}/task?${query}`); // of which this client makes an error, others a null
        assert.deepEqual([answer.status, await answer.text()], [404, ""], query);
    }

    assert.equal((await maintenance.send(new GetPeriodicBackupStatusOperation(7))).status, null);
    const strings = await maintenance.send(new GetConnectionStringsOperation());
    assert.deepEqual([strings.ravenConnectionStrings, strings.sqlConnectionStrings, strings.queueConnectionStrings], [{}, {}, {}]);
    assert.deepEqual(await server.send(new GetServerWideBackupConfigurationsOperation()), []);
    assert.deepEqual({ ...await maintenance.send(new GetSchemaValidationConfiguration()) }, { disabled: true, validatorsPerCollection: {} });
    const remote = await maintenance.send(new GetRemoteAttachmentsConfigurationOperation());
    assert.deepEqual([remote.disabled, remote.destinations], [true, {}]);
    const log = await server.send(new GetLogsConfigurationOperation());
    assert.deepEqual([log.mode, log.currentMode, log.useUtcTime, log.path], ["Operations", "Operations", true, null]);
}));

test("what cannot be done is refused by name, with what to do instead", () => withDatabase(async (store, name) => {
    const db = `databases/${name}`;
    for (const [method, path, what, instead] of [
        ["PUT", `${db}/admin/connection-strings`, "Connection strings", "backup tasks"],
        ["DELETE", `${db}/admin/connection-strings?connectionString=a&type=Raven`, "Connection strings", "backup tasks"],
        ["PUT", `${db}/admin/etl`, "ETL", "smuggler/export"],
        ["PUT", `${db}/admin/queue-sink`, "Queue sinks", "bulk insert"],
        ["PUT", `${db}/admin/ai/agent`, "AI tasks", "vector.search"],
        ["POST", `${db}/ai/agent?agentId=a`, "AI tasks", "vector.search"],
        ["POST", `${db}/admin/tasks/external-replication`, "Other ongoing tasks than backups", "admin/periodic-backup"],
        ["PUT", `${db}/admin/tasks/pull-replication/hub`, "Other ongoing tasks than backups", "admin/periodic-backup"],
        ["POST", `${db}/admin/tasks/sink-pull-replication`, "Other ongoing tasks than backups", "admin/periodic-backup"],
        ["GET", `${db}/tasks/pull-replication/hub?key=1`, "Other ongoing tasks than backups", "admin/periodic-backup"],
        ["DELETE", `${db}/admin/tasks?id=1&type=RavenEtl`, "RavenEtl", "Backup"],
        ["POST", `${db}/admin/tasks/state?key=1&type=Replication&disable=true`, "Replication", "Backup"],
        ["POST", `${db}/admin/schema-validation/config`, "Schema validation", "Check documents"],
        ["POST", `${db}/admin/transactions/start-recording`, "Recording of transactions", "kind=log"],
        ["PUT", `${db}/admin/attachments/remote/config`, "Attachments kept elsewhere", "in the database"],
        ["PUT", "admin/configuration/server-wide/external-replication", "Other tasks of all databases", "server-wide/backup"],
        ["DELETE", "admin/configuration/server-wide/task?type=Replication&name=a", "Tasks of all databases of type 'Replication'", "Backup"],
        ["POST", "admin/configuration/server-wide/state?type=Replication&name=a&disable=true", "Tasks of all databases of type 'Replication'", "Backup"],
        ["GET", "admin/logs/watch", "Files of the log", "standard error"],
        ["GET", "admin/traffic-watch", "Watching of requests and events", "admin/activity"],
        ["PUT", "admin/cluster/node?url=http://127.0.0.1:1&watcher=false", "Clusters", "one node alone"],
        ["DELETE", "admin/cluster/node?nodeTag=B", "Clusters", "one node alone"],
        ["POST", "admin/console?serverScript=true", "Scripts of operators", "patch"],
        ["GET", "admin/integrations/postgresql", "PostgreSQL", "POST queries"],
    ]) {
        const answer = await fetch(`${url}/${path}`, { method, body: method === "GET" ? undefined : "{}" }), error = await answer.json();
        assert.deepEqual([answer.status, error.Type], [501, "Raven.Client.Exceptions.NotSupportedException"], `${method} ${path}: ${error.Message}`);
        for (const text of [what, instead, "Nothing was changed"])
            assert.ok(error.Message.includes(text), `${method} ${path}: ${error.Message}`);
    }
}));

test("the client throws refusals as exceptions with their names", () => withDatabase(async store => {
    const refused = { name: "NotSupportedException", message: /not built yet/ };
    const string = Object.assign(new RavenConnectionString(), { name: "a", database: "b", topologyDiscoveryUrls: [url] });
    await assert.rejects(store.maintenance.send(new PutConnectionStringOperation(string)), refused);
    await assert.rejects(store.maintenance.server.send(new PutServerWideExternalReplicationOperation({ name: "a", topologyDiscoveryUrls: [url] })), refused);
    await assert.rejects(store.maintenance.server.send(new SetLogsConfigurationOperation({ mode: "Operations", persist: true })), refused);
}));

test("the log has another mode until the server stops", () => withDatabase(async store => {
    const { server } = store.maintenance;
    await server.send(new SetLogsConfigurationOperation({ mode: "Information" }));
    let log = await server.send(new GetLogsConfigurationOperation());
    await server.send(new SetLogsConfigurationOperation({ mode: "Operations" }));
    assert.deepEqual([log.mode, log.currentMode], ["Operations", "Information"]);
    log = await server.send(new GetLogsConfigurationOperation());
    assert.deepEqual([log.mode, log.currentMode], ["Operations", "Operations"]);
}));

test("no path that the client knows is unknown to the server", () => withDatabase(async (store, name) => {
    const folder = join(fileURLToPath(new URL(".", import.meta.url)), "node_modules", "ravendb", "dist", "esm"), paths = new Set();
    for (const file of readdirSync(folder, { recursive: true }).filter(file => file.endsWith(".js"))) {
        const text = readFileSync(join(folder, file), "utf8");
        for (const [, path] of text.matchAll(/(?:node\.database\s*\+\s*["`]|\$\{node\.database\})(\/[a-zA-Z/_-]+)/g))
            paths.add(`databases/${name}${path}`);
        for (const [, path] of text.matchAll(/(?:node\.url\s*\+\s*["`]|\$\{node\.url\})\/([a-zA-Z/_-]+)/g))
            if (!path.startsWith("databases/"))
                paths.add(path);
    }

    assert.ok(paths.size > 60, `${paths.size}`);
    const unknown = [];
    for (const path of paths) {
        let isKnown = false;
        for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
            const answer = await fetch(`${url}/${path.replace(/\/$/, "")}`, { method, body: method === "GET" ? undefined : "[" });
            isKnown ||= !(await answer.text()).includes("RouteNotFoundException");
        }

        if (!isKnown)
            unknown.push(path);
    }

    assert.deepEqual(unknown, []);
}));
