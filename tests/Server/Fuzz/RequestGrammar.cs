using System.Globalization;
using System.IO.Compression;
using System.Text;

namespace Treepie.Server.Tests.Fuzz;

/// <summary>
/// Requests as clients send them, and as nobody should: methods, paths, parameters, headers and bodies, mostly right and
/// somewhere wrong. The same seed gives the same requests, while the routes of the server stay.
/// </summary>
internal sealed class RequestGrammar(Random random, IReadOnlyList<(string Method, string Path)> routes)
{
    private const string Database = "{database}", Rest = "{**rest}";

    private static readonly string[] _methods =
        ["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "RESET", "OPTIONS", "TRACE", "Put"];

    private static readonly string[] _parameters =
    [
        "id", "name", "start", "pageSize", "include", "metadataOnly", "loadHash", "startsWith", "matches", "exclude",
        "startAfter", "tag", "lastBatchSize", "lastRangeAt", "lastMax", "end", "last",
        "value", "force", "allowStale", "staleTimeout", "maxOpsPerSec", "skipOverwriteIfUnchanged", "operationId", "sinceEtag",
        "type", "key", "taskId", "kind", "isFullBackup", "disable",
        "database", "duration", "namesOnly", "field", "fromValue", "format", "etag", "replicationFactor", "keep", "overwrite",
        "node", "encrypted", "identityPartsSeparator", "debug", "queryHash", "counter", "full", "from", "to", "timeseries",
        "timeseriestime", "revisions", "revisionsBefore", "cmpxchg", "index", "docId", "contentType", "changeVector", "before",
        "collection", "test", "thumbprint", "txMode", "disableAtomicDocumentWrites", "waitForSpecificIndex", "maxOpsPerSec",
    ];

    private static readonly string[] _values =
    [
        "users/1", "users/", "users|", "1", "0", "-1", "true", "false", "maybe", "99999999999999999999", "9223372036854775807",
        "2147483648", "1e9", "NaN", "", " ", "\0", "\u00FC\u0416\uD83E\uDD8A",
        "..", "../../etc/passwd", "/etc/passwd", "*", "a*b?c", "%", "%00", "00:00:01", "-00:00:01", "99999999.00:00:00",
        "2026-01-31T00:00:00.0000000Z", "0001-01-01", "full", "log", "Backup",
        "Users", "Auto/Users/Byname", "x y", "'", "\"", "\\", "[1,2]", "{\"a\":1}", "other", "db",
        "Heartrate", "likes", "likes@1h", "photo.png", "1970-01-01T00:00:00.0000000Z", "9999-12-31T23:59:59.9999999Z", "ClusterWide",
    ];

    private static readonly string[] _queries =
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
        "update Users set a", "from Users update { this.x = 1 }", "from Users select counter('likes'), cmpxchg('a')",
        "from Users select timeseries(from Heartrate group by '1 hour' select min(), last())",
        "from Users include counters('likes'), timeseries('Heartrate'), revisions('a'), cmpxchg('a')",
        "from Users group by name select count(), key()", "from Users as u load u.other as o select { a: o.name }",
    ];

    private static readonly string[] _scripts =
    [
        "this.x = args.a", "del(id(this))", "put('users/', { a: 1 })", "throw 'x'", "this.x = ", "this['@metadata'] = null",
        "incrementCounter(this, 'likes', args.a)", "this.a = 'a'.repeat(1 << 28)", "load(args.a)", "this.x = this",
        "timeseries(this, 'Heartrate').append(new Date(), [1], 't')", "archived.archiveAt(this, args.a)", "output(this)",
    ];

    private static readonly string[] _commands =
    [
        "PUT", "PUT", "DELETE", "PATCH", "BatchPATCH", "JsonPatch", "Counters", "TimeSeries", "TimeSeriesWithIncrements",
        "TimeSeriesCopy", "AttachmentPUT", "AttachmentDELETE", "AttachmentCOPY", "AttachmentMOVE", "ForceRevisionCreation",
        "CompareExchangePUT", "CompareExchangeDELETE", "HeartBeat", "x",
    ];

    private static readonly string[] _headers =
    [
        "If-Match: \"A:1-x\"", "If-None-Match: *", "If-None-Match: \"\"", "Raven-Client-Version: 7.2.3", "Topology-Etag: \"5\"",
        "Accept-Encoding: gzip", "Content-Type: multipart/form-data; boundary=b",
        "Content-Type: text/plain", "Content-Type: multipart/form-data", "Content-Encoding: gzip", "Content-Encoding: br",
        "Expect: 100-continue", "X-A: \u00FC", "Range: bytes=0-1", "Accept: \0",
    ];

    /// <summary>One request.</summary>
    public byte[] Next()
    {
        (string method, string path) = routes[random.Next(routes.Count)];
        if (random.Next(12) == 0)
            method = Any(_methods);
        string target = path.Replace(
            Database, random.Next(20) == 0 ? Uri.EscapeDataString(Any(_values)) : "db", StringComparison.Ordinal)
            .Replace(Rest, Uri.EscapeDataString(Any(_values)), StringComparison.Ordinal);
        path = path.Replace($"/databases/{Database}/", "", StringComparison.Ordinal);
        if (random.Next(25) == 0)
            target = Spoil(target);

        var query = new StringBuilder();
        for (int i = random.Next(5); i > 0; i--)
            query.Append(query.Length == 0 ? '?' : '&')
                .Append(Any(_parameters))
                .Append('=')
                .Append(
                    random.Next(20) == 0
                        ? Any(_values).Replace(" ", "", StringComparison.Ordinal)
                        : Uri.EscapeDataString(Value()));

        byte[] body = method is "GET" or "HEAD" ? [] : Body(path);
        var head = new StringBuilder()
            .Append(method)
            .Append(' ')
            .Append(target)
            .Append(query)
            .Append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        for (int i = random.Next(3); i > 0; i--)
            head.Append(Any(_headers)).Append("\r\n");
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
            "docs" => random.Next(3) switch
            {
                0 => Document(),
                1 => $$"""{"Ids":[{{Quoted()}},{{Quoted()}}]}""",
                _ => $$"""{"Patch":{{Patch()}},"PatchIfMissing":{{Any(["null", Patch()])}}}""",
            },
            "counters" => $$"""{"Documents":[{{Many(() => $$"""{"DocumentId":{{Quoted()}},"Operations":[{{Many(Counter)}}]}""")}}]}""",
            "cmpxchg" => $$"""{"Object":{{Json(3)}}}""",
            "timeseries" => Series(),
            "attachments/bulk" => $$"""{"Attachments":[{{Many(() => $$"""{"DocumentId":{{Quoted()}},"Name":{{Quoted()}}}""")}}]}""",
            "admin/revisions/config" =>
                $$"""{"Default":{{Any(["null", Rules()])}},"Collections":{{{Many(() => $"{Quoted()}:{Rules()}")}}} }""",
            "admin/timeseries/config" =>
                $$"""{"Collections":{"Users":{"Disabled":{{Any(["true", "false", "1"])}},"RawPolicy":{{Policy()}},"Policies":[{{Many(Policy)}}]} },"NamedValues":{{Json(2)}}}""",
            "admin/timeseries/policy" => Policy(),
            "admin/expiration/config" or "admin/refresh/config" or "admin/data-archival/config" =>
                $$"""{"Disabled":{{Json(0)}},"DeleteFrequencyInSec":{{Json(1)}},"MaxItemsToProcess":{{Json(1)}}}""",
            "/admin/databases/disable" or "/admin/databases/enable" or "/admin/databases/set-lock" =>
                $$"""{"DatabaseNames":["other"],"Mode":{{Quoted()}}}""",
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
        $$"""{"Id":{{Quoted()}},"Type":"{{Any(_commands)}}","ChangeVector":{{Any(["null", "null", "\"\"", "\"A:1-x\"", "3"])}},{{Argument()}}}""";

    private string Argument() => random.Next(9) switch
    {
        0 => $$""" "Patch":{{Patch()}},"Ids":[{"Id":{{Quoted()}},"ChangeVector":null}]""",
        1 => $$""" "Counters":{"DocumentId":{{Quoted()}},"Operations":[{{Many(Counter)}}]}""",
        2 => $$""" "TimeSeries":{{Series()}},"Name":{{Quoted()}}""",
        3 => $$""" "Name":{{Quoted()}},"DestinationId":{{Quoted()}},"DestinationName":{{Quoted()}},"ContentType":{{Quoted()}}""",
        4 => $$""" "Index":{{random.Next(-1, 3)}},"Document":{"Object":{{Json(2)}}}""",
        5 => $$""" "IdPrefixed":{{Any(["true", "false", "1"])}}""",
        _ => $$""" "Document":{{Document()}}""",
    };

    private string Patch() =>
        $$"""{"Script":{{Text(random.Next(10) == 0 ? Spoil(Any(_scripts)) : Any(_scripts))}},"Values":{"a":{{Json(2)}} } }""";

    private string Counter() =>
        $$"""{"Type":"{{Any(["Increment", "Put", "Delete", "Get", "GetAll", "None", "x"])}}","CounterName":{{Quoted()}},"Delta":{{Json(1)}}}""";

    private string Series() =>
        $$"""{"Name":{{Quoted()}},"Appends":[{{Many(Point)}}],"Increments":[{{Many(Point)}}],"Deletes":[{{Many(() => $$"""{"From":{{Any(["null", Quoted()])}},"To":{{Any(["null", Quoted()])}}}""")}}]}""";

    private string Point() =>
        $$"""{"Timestamp":{{Any(["\"2026-01-31T00:00:00.0000000Z\"", Quoted()])}},"Values":[{{Many(() => Json(1))}}],"Tag":{{Any(["null", Quoted()])}}}""";

    private string Policy() =>
        $$"""{"Name":{{Any(["\"By1Hour\"", Quoted()])}},"RetentionTime":{{Span()}},"AggregationTime":{{Span()}}}""";

    private string Span() => Any(
        ["null", "\"01:00:00\"", $$"""{"Value":{{random.Next(-1, 90)}},"Unit":"{{Any(["Second", "Month", "None"])}}"}""", Json(1)]);

    private string Rules() =>
        $$"""{"Disabled":{{Any(["true", "false", "null"])}},"MinimumRevisionsToKeep":{{Any(["null", "2", "-1", "\"a\""])}},"MinimumRevisionAgeToKeep":{{Any(["null", "\"1.00:00:00\"", "3"])}},"PurgeOnDelete":{{Any(["true", "false"])}}}""";

    private string Query() =>
        $$"""{"Query":{{Text(random.Next(10) == 0 ? Spoil(Any(_queries)) : Any(_queries))}},"QueryParameters":{"a":{{Json(2)}},"b":{{Json(2)}}},"Start":{{random.Next(-1, 9)}},"PageSize":{{Any(["10", "0", "-1", "2147483647", "null"])}},"WaitForNonStaleResults":{{Any(["true", "false", "null"])}},"WaitForNonStaleResultsTimeout":{{Any(["5", "\"00:00:00.1\"", "-1", "{}"])}}}""";

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

    private string Value() => random.Next(30) == 0 ? new string('n', random.Next(1, 6_000)) : Any(_values);

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
