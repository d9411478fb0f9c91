using System.Text;
using System.Text.Json;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Indexes;
using Treepie.Lifecycle;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>Archived documents leave indexes, as their definitions say, and come back.</summary>
public sealed class ArchivedDocumentsTests : IDisposable
{
    private static readonly string[] _queries =
    [
        "from Films where Title = 'M'", "from @all_docs where Title = 'M'",
        "from Films group by Title where Title = 'M' select count() as C",
        "from index 'Without' where Title = 'M'", "from index 'All' where Title = 'M'", "from index 'Only' where Title = 'M'",
        "from Films",
    ];

    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Fact]
    public async Task They_leave_indexes_as_definitions_say_and_come_back()
    {
        await using Database database = Database.Open(_files.Path, new DatabaseOptions { TimeProvider = _clock });
        foreach ((string name, ArchivedDocuments archived) in (ReadOnlySpan<(string, ArchivedDocuments)>)
        [
            ("Without", ArchivedDocuments.ExcludeArchived), ("All", ArchivedDocuments.IncludeArchived),
            ("Only", ArchivedDocuments.ArchivedOnly),
        ])
            database.Indexes.Put(
                new IndexDefinition
                {
                    Name = name,
                    Collections = ["Films"],
                    Fields = [new IndexFieldDefinition { Name = "Title" }],
                    ArchivedDocuments = archived,
                });
        await PutAsync(database, "films/1", "");
        await PutAsync(database, "films/2", ",\"@archive-at\":\"2026-01-31T12:00:10Z\",\"own\":{\"@archived\":true}");
        Assert.Equal((int[])[2, 2, 2, 2, 2, 0, 2], await CountsAsync(database));

        await database.Lifecycle.SetAsync(LifecycleTask.Archival, new LifecycleSettings(), Cancel);
        _clock.Now += TimeSpan.FromMinutes(1);
        Assert.Equal(1, await database.Lifecycle.RunAsync(Cancel));
        Assert.Equal((int[])[1, 1, 1, 1, 2, 1, 2], await CountsAsync(database));

        await PutAsync(database, "films/2", "");
        Assert.Equal((int[])[2, 2, 2, 2, 2, 0, 2], await CountsAsync(database));
        await PutAsync(database, "films/1", ",\"@archived\":true");
        await PutAsync(database, "films/2", ",\"@archived\":false");
        Assert.Equal((int[])[1, 1, 1, 1, 2, 1, 2], await CountsAsync(database));
    }

    [Fact]
    public async Task An_answer_that_is_never_stale_leaves_them_out_too()
    {
        await using Database database = Database.Open(_files.Path, new DatabaseOptions { TimeProvider = _clock });
        await PutAsync(database, "films/1", "");
        await PutAsync(database, "films/2", "");
        const string Query = "from Films where Title = 'M' include neverStale()";
        Assert.Equal(2, await CountAsync(database, Query, waits: true));
        for (int i = 0; i < 20; i++)
        {
            await PutAsync(database, "films/2", i % 2 == 0 ? ",\"@archived\":true" : "");
            Assert.Equal(i % 2 == 0 ? 1 : 2, await CountAsync(database, Query, waits: false));
        }
    }

    [Fact]
    public void A_definition_is_read_as_it_is_written_and_another_word_refused()
    {
        using var json = JsonDocument.Parse(
            """{"Name":"X","Collections":["Films"],"Fields":{"A":{}},"ArchivedDataProcessingBehavior":"ArchivedOnly"}""");
        var definition = IndexDefinition.FromJson(json.RootElement);
        Assert.Equal(ArchivedDocuments.ArchivedOnly, definition.ArchivedDocuments);
        Assert.False(definition.IsSameAs(definition with { ArchivedDocuments = ArchivedDocuments.ExcludeArchived }));
        using var bad = JsonDocument.Parse(
            """{"Name":"X","Collections":["Films"],"Fields":{"A":{}},"ArchivedDataProcessingBehavior":"Some"}""");
        Assert.Throws<InvalidIndexDefinitionException>(() => IndexDefinition.FromJson(bad.RootElement));
    }

    private static Task<IReadOnlyList<WriteResult>> PutAsync(Database database, string id, string metadata) =>
        database.WriteAsync(
            new WriteBatch().Put(
                id, Encoding.UTF8.GetBytes($$$"""{"Title":"M","@metadata":{"@collection":"Films"{{{metadata}}}}}""")), Cancel);

    private static async Task<int[]> CountsAsync(Database database)
    {
        var counts = new List<int>();
        foreach (string query in _queries)
            counts.Add(await CountAsync(database, query, waits: true));
        return [.. counts];
    }

    private static async Task<int> CountAsync(Database database, string text, bool waits)
    {
        using QueryResults results = await database.QueryAsync(
            new QueryRequest { Text = text, WaitForNonStaleResults = waits }, Cancel);
        int count = 0;
        while (results.MoveNext())
        {
            var output = new System.Buffers.ArrayBufferWriter<byte>();
            results.WriteCurrent(output);
            using var json = JsonDocument.Parse(output.WrittenMemory);
            count += json.RootElement.TryGetProperty("C", out JsonElement grouped) ? grouped.GetInt32() : 1;
        }

        return count;
    }
}
