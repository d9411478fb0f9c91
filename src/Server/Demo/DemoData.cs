using System.IO.Compression;
using System.Reflection;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Demo;

/// <summary>
/// The database <c>demo</c>: Northwind with the coordinates of every order's city, about a thousand films, related data
/// (<see cref="DemoKinds"/>) and indexes of each kind. The files are those of <c>samples/</c> and the definitions next to
/// this class, embedded in the assembly. Loading is idempotent: the document <see cref="AboutId"/> is written last, and once
/// it exists nothing is loaded again, so changes and deletions by visitors are kept. An interrupted load is completed by the
/// next one, which leaves existing documents unchanged.
/// </summary>
internal static class DemoData
{
    public const string DatabaseName = "demo";

    /// <summary>The document with the sources and licences of the data; it exists once everything is loaded.</summary>
    public const string AboutId = "about/demo";

    private const string DefaultUrl = "http://127.0.0.1:8080";
    private const string ResourcePrefix = "Demo/", About = ResourcePrefix + "about.json";

    /// <summary>
    /// The number of documents in a batch. There is one sync per batch: 15 for the whole sample, which at 2 KB per document
    /// uses less than a megabyte of memory.
    /// </summary>
    private const int BatchDocuments = 512;

    /// <summary>
    /// Creates or completes the database, and writes to <paramref name="output"/> what it contains and what to try.
    /// </summary>
    public static Task LoadAsync(DatabaseCatalog catalog, TextWriter output, CancellationToken cancellationToken) =>
        LoadAsync(catalog, output, DefaultUrl, cancellationToken);

    /// <inheritdoc cref="LoadAsync(DatabaseCatalog,TextWriter,CancellationToken)"/>
    /// <param name="catalog">The catalogue in which the database is created.</param>
    /// <param name="output">Receives a few lines for the user.</param>
    /// <param name="url">The address of the server, for the example commands.</param>
    /// <param name="cancellationToken">Stops between two batches; the next call completes the load.</param>
    public static async Task LoadAsync(
        DatabaseCatalog catalog, TextWriter output, string url, CancellationToken cancellationToken)
    {
        Database database = catalog.Find(DatabaseName) ?? catalog.Create(DatabaseName);
        if (!Holds(database, AboutId))
        {
            await FillAsync(database, Resources(), cancellationToken);
            byte[] about = await ReadAboutAsync(cancellationToken);
            await database.WriteAsync(new WriteBatch(database.Options).Put(AboutId, about), cancellationToken);
        }

        await WriteGuideAsync(database, output, url);
    }

    /// <summary>Loads only Northwind into a database.</summary>
    public static Task LoadSampleAsync(Database database, CancellationToken cancellationToken) =>
        FillAsync(database, Resources().Where(static name => !IsOfMovies(name)), cancellationToken);

    private static async Task FillAsync(Database database, IEnumerable<string> resources, CancellationToken cancellationToken)
    {
        await DemoKinds.ConfigureAsync(database, cancellationToken);
        bool hasMovies = false;
        foreach (string resource in resources)
        {
            hasMovies |= IsOfMovies(resource);
            await LoadAsync(database, resource, cancellationToken);
        }

        await DemoKinds.LoadAsync(database, cancellationToken);
        foreach (string name in typeof(DemoData).Assembly.GetManifestResourceNames())
            if (name.StartsWith(ResourcePrefix, StringComparison.Ordinal)
                && name.EndsWith(".json", StringComparison.Ordinal)
                && name != About
                && (hasMovies || !IsOfMovies(name)))
                await DefineIndexAsync(database, name, cancellationToken);
    }

    private static bool IsOfMovies(string resource) => resource.Contains("movies", StringComparison.Ordinal);

    private static async Task DefineIndexAsync(Database database, string resource, CancellationToken cancellationToken)
    {
        using Stream stream = Open(resource);
        using JsonDocument json = await JsonDocument.ParseAsync(stream, default, cancellationToken);
        database.Indexes.Put(IndexDefinition.FromJson(json.RootElement));
    }

    private static async Task LoadAsync(Database database, string resource, CancellationToken cancellationToken)
    {
        using var content = new GZipStream(Open(resource), CompressionMode.Decompress);
        using var reader = new StreamReader(content);
        var batch = new WriteBatch(database.Options);
        while (await reader.ReadLineAsync(cancellationToken) is { } line)
        {
            byte[] document = System.Text.Encoding.UTF8.GetBytes(line);
            string id = IdOf(document)
                ?? throw new InvalidDataException($"A line of the sample {resource} has no @metadata.@id.");
            if (!Holds(database, id))
            {
                if (id.StartsWith("orders/", StringComparison.Ordinal) && DemoKinds.NumberOf(id) <= DemoKinds.OrdersWithHistory)
                    batch.Put(id, BeforeShipping(line));
                batch.Put(id, document);
            }

            if (batch.Count == BatchDocuments)
            {
                await database.WriteAsync(batch, cancellationToken);
                batch = new WriteBatch(database.Options);
            }
        }

        if (batch.Count > 0)
            await database.WriteAsync(batch, cancellationToken);
    }

    /// <summary>Returns an order as it was before it was shipped, for its first revision.</summary>
    private static byte[] BeforeShipping(string order)
    {
        const string Member = "\"ShippedAt\":";
        int value = order.IndexOf(Member, StringComparison.Ordinal) + Member.Length;
        return System.Text.Encoding.UTF8.GetBytes($"{order[..value]}null{order[order.IndexOf(',', value)..]}");
    }

    private static bool Holds(Database database, string id)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return snapshot.TryGet(id, out _);
    }

    private static string? IdOf(ReadOnlySpan<byte> document)
    {
        var reader = new Utf8JsonReader(document);
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool metadata = reader.ValueTextEquals("@metadata");
            reader.Read();
            if (!metadata)
            {
                reader.Skip();
                continue;
            }

            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                bool id = reader.ValueTextEquals("@id");
                reader.Read();
                if (id)
                    return reader.GetString();

                reader.Skip();
            }
        }

        return null;
    }

    private static async Task WriteGuideAsync(Database database, TextWriter output, string url)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        string collections = string.Join(
            ", ", snapshot.Collections().OrderByDescending(c => c.DocumentCount).Select(c => $"{c.DocumentCount} {c.Name}"));
        await output.WriteLineAsync($$"""
            Database '{{DatabaseName}}' holds {{snapshot.DocumentCount}} documents: {{collections}}.
            Sources and licences are in its document '{{AboutId}}'. Try:

              curl '{{url}}/databases/{{DatabaseName}}/docs?id=orders/1-A'
              curl '{{url}}/databases/{{DatabaseName}}/queries' -d '{"Query": "from Orders where ShipTo.City = $city order by Freight as double desc limit 3", "QueryParameters": {"city": "London"} }'
              treepie query "from Movies where search(Extract, 'heist') and Year >= 2010 order by Year as long select Title, Year" --url {{url}} --database {{DatabaseName}} --wait
              treepie query "from index 'Orders/Totals' where Country = 'France' order by Month" --url {{url}} --database {{DatabaseName}}
              treepie query "from Companies where Name = 'Alfreds Futterkiste' select timeseries(from StockPrices group by '1 month' select last())" --url {{url}} --database {{DatabaseName}} --wait
              treepie export --url {{url}} --database {{DatabaseName}} --collection Orders --output orders.ndjson.gz

            """);
    }

    private static async Task<byte[]> ReadAboutAsync(CancellationToken cancellationToken)
    {
        using Stream stream = Open(About);
        byte[] about = new byte[stream.Length];
        await stream.ReadExactlyAsync(about, cancellationToken);
        return about;
    }

    private static IEnumerable<string> Resources() =>
        from name in typeof(DemoData).Assembly.GetManifestResourceNames()
        where name.StartsWith(ResourcePrefix, StringComparison.Ordinal) && name.EndsWith(".ndjson.gz", StringComparison.Ordinal)
        orderby IsOfMovies(name), name
        select name;

    private static Stream Open(string resource) =>
        Assembly.GetExecutingAssembly().GetManifestResourceStream(resource)
        ?? throw new InvalidOperationException($"The assembly lacks its resource '{resource}'. Build it again.");
}
