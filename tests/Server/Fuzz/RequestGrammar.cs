using System.Globalization;
using System.IO.Compression;
using System.Text;

namespace Treepie.Server.Tests.Fuzz;

/// <summary>
/// Requests as clients send them, and as nobody should: methods, paths, parameters, headers and bodies, mostly right and
/// somewhere wrong. The same seed gives the same requests.
/// </summary>
internal sealed class RequestGrammar(Random random)
{
    private static readonly string[] s_methods =
        ["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "RESET", "OPTIONS", "TRACE", "Put"];

    private static readonly (string Method, string Path)[] s_routes =
    [
        ("GET", "docs"), ("PUT", "docs"), ("DELETE", "docs"), ("HEAD", "docs"), ("POST", "docs"), ("POST", "bulk_docs"),
        ("POST", "bulk_insert"), ("GET", "hilo/next"), ("PUT", "hilo/return"),
        ("POST", "identity/next"), ("POST", "identity/seed"), ("POST", "queries"), ("GET", "queries"), ("DELETE", "queries"),
        ("POST", "queries/explain"), ("POST", "streams/queries"),
        ("GET", "streams/docs"), ("POST", "multi_get"), ("GET", "indexes"), ("PUT", "indexes"), ("PUT", "admin/indexes"),
        ("POST", "indexes/has-changed"), ("DELETE", "indexes"),
        ("RESET", "indexes"), ("GET", "indexes/stats"), ("GET", "indexes/errors"), ("DELETE", "indexes/errors"),
        ("GET", "indexes/status"), ("POST", "indexes/set-lock"),
        ("POST", "indexes/set-priority"), ("POST", "admin/indexes/enable"), ("POST", "admin/indexes/stop"),
        ("POST", "admin/indexes/start"), ("GET", "indexes/terms"), ("GET", "indexes/entry"),
        ("GET", "indexes/structures"), ("GET", "operations/next-operation-id"), ("GET", "operations/state"),
        ("POST", "operations/kill"), ("POST", "smuggler/export"), ("POST", "smuggler/import"),
        ("POST", "admin/periodic-backup"), ("POST", "admin/backup"), ("POST", "admin/backup/database"),
        ("POST", "admin/backup/part"), ("GET", "task"), ("GET", "tasks"),
        ("DELETE", "admin/tasks"), ("POST", "admin/tasks/state"), ("GET", "stats"), ("GET", "stats/detailed"),
        ("GET", "collections/stats"), ("GET", "admin/record"), ("GET", "healthcheck"),
        ("GET", "configuration/client"), ("POST", "admin/encryption/key"), ("POST", "admin/encryption/rotate"),
        ("GET", "attachments"), ("GET", "timeseries"), ("POST", "timeseries"), ("GET", "timeseries/ranges"),
        ("GET", "timeseries/config"), ("POST", "admin/timeseries/config"), ("PUT", "admin/timeseries/policy"),
        ("DELETE", "admin/timeseries/policy"), ("POST", "timeseries/names/config"), ("PUT", "admin/configuration/client"),
        ("PUT", "admin/configuration/studio"), ("GET", "configuration/studio"), ("PUT", "admin/configuration/settings"),
        ("POST", "admin/revisions/conflicts/config"), ("GET", "changes"),
    ];

    private static readonly (string Method, string Path)[] s_serverRoutes =
    [
        ("GET", "/databases"), ("GET", "/admin/activity"), ("PUT", "/admin/databases"), ("DELETE", "/admin/databases"), ("GET", "/admin/databases"),
        ("GET", "/topology"), ("GET", "/cluster/topology"),
        ("GET", "/cluster/node-info"), ("GET", "/build/version"), ("GET", "/operations/state"),
        ("POST", "/admin/operations/kill"), ("GET", "/admin/operations/next-operation-id"),
        ("POST", "/admin/secrets"), ("GET", "/admin/secrets/generate"), ("POST", "/admin/restore/points"),
        ("POST", "/admin/restore/database"), ("POST", "/admin/backups/list"),
        ("POST", "/admin/backups/verify"), ("POST", "/admin/restore/upload"), ("GET", "/periodic-backup/status"),
        ("POST", "/admin/backup-task/delay"), ("GET", "/admin/certificates"),
    ];

    private static readonly string[] s_parameters =
    [
        "id", "name", "start", "pageSize", "include", "metadataOnly", "loadHash", "startsWith", "matches", "exclude",
        "startAfter", "tag", "lastBatchSize", "lastRangeAt", "lastMax", "end", "last",
        "value", "force", "allowStale", "staleTimeout", "maxOpsPerSec", "skipOverwriteIfUnchanged", "operationId", "sinceEtag",
        "type", "key", "taskId", "kind", "isFullBackup", "disable",
        "database", "duration", "namesOnly", "field", "fromValue", "format", "etag", "replicationFactor", "keep", "overwrite",
        "node", "encrypted", "identityPartsSeparator", "debug", "queryHash",
    ];

    private static readonly string[] s_values =
    [
        "users/1", "users/", "users|", "1", "0", "-1", "true", "false", "maybe", "99999999999999999999", "9223372036854775807",
        "2147483648", "1e9", "NaN", "", " ", "\0", "\u00FC\u0416\uD83E\uDD8A",
        "..", "../../etc/passwd", "/etc/passwd", "*", "a*b?c", "%", "%00", "00:00:01", "-00:00:01", "99999999.00:00:00",
        "2026-01-31T00:00:00.0000000Z", "0001-01-01", "full", "log", "Backup",
        "Users", "Auto/Users/Byname", "x y", "'", "\"", "\\", "[1,2]", "{\"a\":1}", "other", "db",
    ];

    private static readonly string[] s_queries =
    [
        "from Users", "from Users where name = 'Ada'", "from @all_docs", "from Users where search(name, 'a*')",
        "from Users order by name select name, age", "from index 'none'",
        "from Users where age between 1 and 5 include other limit 3", "from Users where name in ($a, $b)",
        "from Users where id() = 'users/1'", "from Users where startsWith(name, $a)",
        "from Users where spatial.within(spatial.point(a, b), spatial.circle(1, 2, 3))", "from Users group by name",
        "from Users select facet(name)", "match (a)-[b]->(c)", "from Users where regex(name, '(')",
        "from Users where vector.search(a, $a)", "declare function f(x) { return x; } from Users as u select f(u)",
        "from Users where exact(name = 'Ada') or not age > 3", "from", "select", "from Users where",
        "from Users where lucene(name, 'a:b AND')", "from Users order by score(), random('x') limit 1, 2",
        "from Users filter age > 1", "from Users where fuzzy(name = 'Ada', 0.5)", "from Users where a.b[].c = null",
        "explain from Users where name='a'", "from Users where boost(name = 'a', $a)",
        "from Users where proximity(search(name, 'a b'), 2)", "from Users include explanations(), highlight(name, 10, 1)",
        "update Users set a",
    ];

    private static readonly string[] s_headers =
    [
        "If-Match: \"A:1-x\"", "If-None-Match: *", "If-None-Match: \"\"", "Raven-Client-Version: 7.2.3", "Topology-Etag: \"5\"",
        "Accept-Encoding: gzip", "Content-Type: multipart/form-data; boundary=b",
        "Content-Type: text/plain", "Content-Type: multipart/form-data", "Content-Encoding: gzip", "Content-Encoding: br",
        "Expect: 100-continue", "X-A: \u00FC", "Range: bytes=0-1", "Accept: \0",
    ];

    /// <summary>One request.</summary>
    public byte[] Next()
    {
        bool ofServer = random.Next(6) == 0;
        (string method, string path) = ofServer ? Any(s_serverRoutes) : Any(s_routes);
        if (random.Next(12) == 0)
            method = Any(s_methods);
        string target = ofServer
            ? path
            : $"/databases/{(random.Next(20) == 0 ? Uri.EscapeDataString(Any(s_values)) : "db")}/{path}";
        if (random.Next(25) == 0)
            target = Spoil(target);

        var query = new StringBuilder();
        for (int i = random.Next(5); i > 0; i--)
            query.Append(query.Length == 0 ? '?' : '&')
                .Append(Any(s_parameters))
                .Append('=')
                .Append(
                    random.Next(20) == 0
                        ? Any(s_values).Replace(" ", "", StringComparison.Ordinal)
                        : Uri.EscapeDataString(Value()));

        byte[] body = method is "GET" or "HEAD" ? [] : Body(path);
        var head = new StringBuilder()
            .Append(method)
            .Append(' ')
            .Append(target)
            .Append(query)
            .Append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        for (int i = random.Next(3); i > 0; i--)
            head.Append(Any(s_headers)).Append("\r\n");
        head.Append("Connection: close\r\n");
        bool isChunked = body.Length > 0 && random.Next(3) == 0;
        head.Append(
            isChunked
                ? "Transfer-Encoding: chunked\r\n\r\n"
                : string.Create(CultureInfo.InvariantCulture, $"Content-Length: {body.Length}\r\n\r\n"));
        return [.. Encoding.UTF8.GetBytes(head.ToString()), .. isChunked ? Chunks(body) : body];
    }

    private byte[] Chunks(byte[] body)
    {
        var chunks = new List<byte>();
        foreach (byte[] part in body.Chunk(Math.Max(1, random.Next(body.Length + 1))))
            chunks.AddRange(
                [.. Encoding.ASCII.GetBytes(
                    $"{(random.Next(60) == 0 ? "zz" : part.Length.ToString("x", CultureInfo.InvariantCulture))}\r\n"), .. part,
                    .. "\r\n"u8]);
        return [.. chunks, .. "0\r\n\r\n"u8];
    }

    private byte[] Body(string path)
    {
        string text = random.Next(10) == 0 ? Json(4) : path switch
        {
            "docs" => random.Next(2) == 0 ? Document() : $$"""{"Ids":[{{Quoted()}},{{Quoted()}}]}""",
            "bulk_docs" => $$"""{"Commands":[{{Many(Command)}}]}""",
            "bulk_insert" =>
                $"[{Many(() => $$"""{"Id":{{Quoted()}},"Type":"{{Any(["PUT", "HeartBeat", "Counters", "AttachmentPUT"])}}","Document":{{Document()}}}""")}]",
            "multi_get" =>
                $$"""{"Requests":[{{Many(() => $$"""{"Url":"/databases/db/{{Any(["docs", "queries", "x"])}}","Query":"?id={{random.Next(5)}}","Method":"{{Any(["GET", "POST"])}}","Headers":{},"Content":{{Text(Query())}}}""")}}]}""",
            "queries" or "queries/explain" or "streams/queries" => Query(),
            "indexes" or "admin/indexes" or "indexes/has-changed" =>
                $$"""{"Indexes":[{"Name":{{Quoted()}},"Maps":[{{Text(Any(["from u in docs.Users select new { u.name }", "map('Users', u => u)", "x"]))}}],"Fields":{"name":{{Json(2)}}},"Type":"Map"}]}""",
            "/admin/databases" => random.Next(2) == 0
                ? """{"DatabaseNames":["other"],"HardDelete":true}"""
                : """{"DatabaseName":"other","Settings":{}}""",
            "smuggler/import" or "/admin/restore/upload" =>
                $"--b\r\nContent-Disposition: form-data; name=\"{Any(["importOptions", "file"])}\"\r\n\r\n{Json(3)}\r\n--b--\r\n",
            _ =>
                $$"""{"{{Any(["FolderPath", "BackupLocation", "DatabaseName", "Name", "Type", "LocalSettings", "Kind", "FullBackupFrequency", "Settings"])}}":{{Json(2)}},"{{Any(["Since", "Destination", "S3Settings", "StopAtTime", "IndexNames"])}}":{{Json(3)}}}""",
        };
        byte[] body = Encoding.UTF8.GetBytes(random.Next(12) == 0 ? Spoil(text) : text);
        return random.Next(15) == 0 ? Gzip(body) : body;
    }

    private string Command() =>
        $$"""{"Id":{{Quoted()}},"Type":"{{Any(["PUT", "DELETE", "PATCH", "Counters", "x"])}}","ChangeVector":{{Any(["null", "\"\"", "\"A:1-x\"", "3"])}},"Document":{{Document()}}}""";

    private string Query() =>
        $$"""{"Query":{{Text(random.Next(10) == 0 ? Spoil(Any(s_queries)) : Any(s_queries))}},"QueryParameters":{"a":{{Json(2)}},"b":{{Json(2)}}},"Start":{{random.Next(-1, 9)}},"PageSize":{{Any(["10", "0", "-1", "2147483647", "null"])}},"WaitForNonStaleResults":{{Any(["true", "false", "null"])}},"WaitForNonStaleResultsTimeout":{{Any(["5", "\"00:00:00.1\"", "-1", "{}"])}}}""";

    private string Document() =>
        $$"""{"name":{{Json(2)}},"age":{{Json(1)}},"@metadata":{"@collection":{{Any(["\"Users\"", "\"Users\"", "\"\"", "3", "null"])}},"@id":{{Quoted()}} } }""";

    private string Many(Func<string> one) => string.Join(',', Enumerable.Range(0, random.Next(4)).Select(_ => one()));

    private string Json(int depth) => random.Next(depth > 0 ? 9 : 6) switch
    {
        0 => Any(["null", "true", "false"]),
        1 => Any(["0", "-1", "1e308", "1e999", "9223372036854775808", "0.1", "-0", "01", "1."]),
        2 or 3 or 4 => Quoted(),
        5 => Any(["\"\\ud800\"", "\"\\u0000\"", "\"\\q\"", "", "NaN", "'a'"]),
        6 => $"[{Many(() => Json(depth - 1))}]",
        _ => $"{{{Many(() => $"{Quoted()}:{Json(depth - 1)}")}}}",
    };

    private string Value() => random.Next(30) == 0 ? new string('n', random.Next(1, 6_000)) : Any(s_values);

    private string Quoted() => Text(Value());

    private static string Text(string text) => System.Text.Json.JsonSerializer.Serialize(text);

    private string Spoil(string text)
    {
        if (text.Length == 0)
            return "\u0001";
        int at = random.Next(text.Length);
        return random.Next(4) switch
        {
            0 => text[..at],
            1 => text.Insert(at, Any(["\"", "{", "}", "[", "\0", "\uFFFF", "%", "//", "\u00FC", "\t"])),
            2 => text.Remove(at, 1),
            _ => text[at..] + text[..at],
        };
    }

    private static byte[] Gzip(byte[] bytes)
    {
        using var buffer = new MemoryStream();
        using (var gzip = new GZipStream(buffer, CompressionLevel.Fastest))
            gzip.Write(bytes);
        return buffer.ToArray();
    }

    private T Any<T>(T[] all) => all[random.Next(all.Length)];
}
