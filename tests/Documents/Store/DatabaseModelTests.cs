using System.Buffers;
using System.Text;
using System.Text.Json.Nodes;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

/// <summary>
/// Random work on a database, told at the same time to a dictionary; both must agree, now and in every snapshot held.
/// </summary>
public sealed class DatabaseModelTests
{
    private static readonly string[] _collections = ["Users", "Orders", "@empty", "Ünïts"];

    [Fact]
    public async Task Random_batches_snapshots_and_reopenings_agree_with_a_dictionary()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        var model = new Model();
        var held = new List<(DatabaseSnapshot Snapshot, Model Model)>();
        Database database = Database.Open(directory.Path);
        for (int step = 0; step < 400; step++)
        {
            await WriteRandomBatch(database, model, random);
            switch (random.Next(12))
            {
                case 0:
                    held.Add((database.BeginRead(), model.Copy()));
                    break;
                case 1 when held.Count > 0:
                    (DatabaseSnapshot snapshot, Model then) = held[random.Next(held.Count)];
                    AssertSame(then, snapshot, random);
                    break;
                case 2 when random.Next(4) == 0:
                    held.ForEach(entry => entry.Snapshot.Dispose());
                    held.Clear();
                    await database.DisposeAsync();
                    database = Database.Open(directory.Path);
                    break;
            }

            if (step % 10 == 0)
            {
                using DatabaseSnapshot now = database.BeginRead();
                AssertSame(model, now, random);
            }
        }

        held.ForEach(entry => AssertSame(entry.Model, entry.Snapshot, random));
        held.ForEach(entry => entry.Snapshot.Dispose());
        Assert.Empty(database.Check(TestContext.Current.CancellationToken).Problems);
        await database.DisposeAsync();
    }

    private static async Task WriteRandomBatch(Database database, Model model, Random random)
    {
        Model next = model.Copy();
        using var batch = new WriteBatch();
        string? expectedFailure = null;
        int commands = random.Next(1, 8);
        // change vectors of this batch are not known in advance
        var changed = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        for (int index = 0; index < commands && expectedFailure is null; index++)
        {
            string id = RandomId(random);
            string? expected = RandomExpectation(random, next, id, changed, out bool fails);
            if (random.Next(20) == 0)
            {
                string prefix = id[..random.Next(1, id.Length)];
                batch.DeleteByPrefix(prefix);
                foreach (string found in next.Documents.Keys.Where(
                    key => key.StartsWith(prefix, StringComparison.OrdinalIgnoreCase))
                        .OrderBy(key => key.ToLowerInvariant(), StringComparer.Ordinal)
                        .ToList())
                {
                    next.Delete(found);
                    changed.Add(found);
                }

                continue;
            }

            if (fails)
                expectedFailure = "concurrency";
            bool deletes = random.Next(3) == 0;
            if (deletes)
            {
                batch.Delete(id, expected);
                next.Delete(id);
            }
            else
            {
                string collection = next.Documents.TryGetValue(id, out ModelDocument? existing) && random.Next(30) != 0
                    ? existing.Collection
                    : _collections[random.Next(_collections.Length)];
                if (!fails && existing is not null && existing.Collection != collection)
                    expectedFailure = "collection";
                string body =
                    $"{{\"n\":{random.Next(1000)},\"text\":\""
                        + $"{new string('x', random.Next(10) == 0 ? random.Next(20_000) : random.Next(50))}\"}}";
                string metadata = collection == "@empty"
                    ? ""
                    : $",\"@metadata\":{{\"@collection\":\"{collection}\",\"tag\":{index}}}";
                batch.Put(id, Encoding.UTF8.GetBytes(body[..^1] + metadata + "}"), expected);
                next.Put(id, collection, body, metadata.Length == 0 ? "{}" : $"{{\"tag\":{index}}}");
            }

            changed.Add(id);
        }

        if (expectedFailure == "concurrency")
        {
            await Assert.ThrowsAsync<ConcurrencyException>(
                () => database.WriteAsync(batch, TestContext.Current.CancellationToken));
        }
        else if (expectedFailure == "collection")
        {
            await Assert.ThrowsAsync<InvalidDocumentException>(
                () => database.WriteAsync(batch, TestContext.Current.CancellationToken));
        }
        else
        {
            await database.WriteAsync(batch, TestContext.Current.CancellationToken);
            using DatabaseSnapshot snapshot = database.BeginRead();
            model.Take(next);
            foreach (string id in changed)
                if (model.Documents.TryGetValue(id, out ModelDocument? document) && snapshot.TryGet(id, out Document stored))
                    document.ChangeVector = stored.ChangeVector;
        }
    }

    private static string? RandomExpectation(Random random, Model model, string id, HashSet<string> changed, out bool fails)
    {
        bool exists = model.Documents.TryGetValue(id, out ModelDocument? document);
        fails = false;
        switch (random.Next(20))
        {
            case 0:
                fails = exists;
                return "";
            case 1 when exists && !changed.Contains(id):
                return document!.ChangeVector; // exists
            case 2:
                fails = true;
                return "A:999999-AAAAAAAAAAAAAAAAAAAAAA";
            default:
                return null;
        }
    }

    private static string RandomId(Random random)
    {
        string id = $"{"users/orders/ünïts/x".Split('/')[random.Next(4)]}/{random.Next(30)}";
        return random.Next(4) == 0 ? id.ToUpperInvariant() : id;
    }

    private static void AssertSame(Model model, DatabaseSnapshot snapshot, Random random)
    {
        Assert.Equal(model.Documents.Count, snapshot.DocumentCount);
        Assert.Equal(model.LastEtag, snapshot.LastEtag);
        foreach (ModelDocument document in model.Documents.Values)
        {
            Assert.True(
                snapshot.TryGet(random.Next(2) == 0 ? document.Id : document.Id.ToUpperInvariant(), out Document stored),
                document.Id);
            AssertSame(document, stored);
        }

        AssertOrder(model.Documents.Values.OrderBy(document => document.Etag), snapshot.ByEtag());
        AssertOrder(model.Documents.Values.OrderByDescending(document => document.Etag), snapshot.NewestFirst());
        long after = random.NextInt64(model.LastEtag + 1);
        AssertOrder(
            model.Documents.Values.Where(document => document.Etag > after).OrderBy(document => document.Etag),
            snapshot.ByEtag(after));
        string prefix = "users/"[..random.Next(7)];
        AssertOrder(
            model.Documents.Values.Where(document => document.Id.StartsWith(prefix, StringComparison.OrdinalIgnoreCase))
                .OrderBy(document => document.Id.ToLowerInvariant(), StringComparer.Ordinal),
            snapshot.ByPrefix(new DocumentPrefix { StartsWith = prefix }));
        AssertFeed(model.Changes(null, after), snapshot.Changes(null, after));
        foreach (string collection in _collections)
        {
            AssertOrder(
                model.Documents.Values.Where(document => document.Collection == collection && document.Etag > after)
                    .OrderBy(document => document.Etag),
                snapshot.ByCollection(collection.ToUpperInvariant(), after));
            AssertFeed(model.Changes(collection, after), snapshot.Changes(collection, after));
        }

        Assert.Equal(model.Statistics(), snapshot.Collections());
        Assert.Equal(model.Tombstones.Count, snapshot.TombstoneCount);
    }

    private static void AssertOrder(IEnumerable<ModelDocument> expected, DocumentCursor cursor)
    {
        using (cursor)
        {
            foreach (ModelDocument document in expected)
            {
                Assert.True(cursor.MoveNext(), $"{document.Id} is missing");
                AssertSame(document, cursor.Current);
            }

            Assert.False(cursor.MoveNext());
            Assert.False(cursor.MoveNext(), "the end stays the end");
        }
    }

    private static void AssertFeed(
        IEnumerable<(long Etag, string Id, string Collection, bool IsTombstone)> expected, ChangeFeed feed)
    {
        var found = new List<(long, string, string, bool)>();
        using (feed)
            while (feed.MoveNext())
                found.Add(
                    (feed.Etag, Encoding.UTF8.GetString(feed.Id), Encoding.UTF8.GetString(feed.Collection), feed.IsTombstone));
        Assert.Equal(expected, found);
    }

    private static void AssertSame(ModelDocument expected, Document actual)
    {
        Assert.Equal(
            (expected.Id, expected.Collection, expected.Etag, expected.Body, expected.Metadata),
            (Encoding.UTF8.GetString(actual.Id), Encoding.UTF8.GetString(actual.Collection), actual.Etag, Encoding.UTF8.GetString(
                actual.Body), Encoding.UTF8.GetString(actual.Metadata)));
        var output = new ArrayBufferWriter<byte>();
        actual.WriteTo(output);
        JsonNode joined = JsonNode.Parse(output.WrittenSpan)!; // an object
        Assert.Equal(expected.Id, (string?)joined["@metadata"]!["@id"]);
        Assert.Equal(expected.Collection, (string?)joined["@metadata"]!["@collection"]);
        Assert.Equal(actual.ChangeVector, (string?)joined["@metadata"]!["@change-vector"]);
    }

    private sealed class ModelDocument
    {
        public required string Id { get; init; }

        public required string Collection { get; init; }

        public required string Body { get; init; }

        public required string Metadata { get; init; }

        public required long Etag { get; init; }

        public string? ChangeVector { get; set; }
    }

    private sealed class Model
    {
        public Dictionary<string, ModelDocument> Documents { get; private set; } = new(StringComparer.OrdinalIgnoreCase);

        public Dictionary<(string FoldedId, string Collection), (long Etag, string Id)> Tombstones { get; private set; } = [];

        public Dictionary<string, long> LastEtags { get; private set; } = [];

        public long LastEtag { get; private set; }

        public Model Copy() => new()
        {
            Documents = new Dictionary<string, ModelDocument>(Documents, StringComparer.OrdinalIgnoreCase),
            Tombstones = new Dictionary<(string, string), (long, string)>(Tombstones),
            LastEtags = new Dictionary<string, long>(LastEtags),
            LastEtag = LastEtag,
        };

        public void Take(Model other) =>
            (Documents, Tombstones, LastEtags, LastEtag) = (other.Documents, other.Tombstones, other.LastEtags, other.LastEtag);

        public void Put(string id, string collection, string body, string metadata)
        {
            string spelling = Documents.TryGetValue(id, out ModelDocument? existing) ? existing.Id : id;
            LastEtag++;
            LastEtags[collection] = LastEtag;
            Tombstones.Remove((id.ToLowerInvariant(), collection));
            Documents[id] = new ModelDocument
            {
                Id = spelling,
                Collection = collection,
                Body = body,
                Metadata = metadata,
                Etag = LastEtag
            };
        }

        public void Delete(string id)
        {
            if (!Documents.Remove(id, out ModelDocument? document))
                return;
            LastEtag++;
            LastEtags[document.Collection] = LastEtag;
            Tombstones[(id.ToLowerInvariant(), document.Collection)] = (LastEtag, document.Id);
        }

        public IEnumerable<(long Etag, string Id, string Collection, bool IsTombstone)> Changes(string? collection, long after)
        {
            var changes = Documents.Values.Select(
                document => (document.Etag, document.Id, document.Collection, IsTombstone: false))
                .Concat(
                    Tombstones.Select(
                        tombstone => (tombstone.Value.Etag, tombstone.Value.Id, tombstone.Key.Collection, IsTombstone: true)))
                .Where(change => collection is null || change.Collection == collection);
            if (collection is null)
                changes = changes.GroupBy(change => change.Id.ToLowerInvariant())
                    .Select(group => group.MaxBy(change => change.Etag));
            return changes.Where(change => change.Etag > after).OrderBy(change => change.Etag);
        }

        public IEnumerable<CollectionStatistics> Statistics() => Documents.Values
            .GroupBy(document => document.Collection)
            .Select(group => new CollectionStatistics(
                group.Key,
                group.Count(),
                group.Sum(document => document.Body.Length + (document.Metadata == "{}" ? 0 : document.Metadata.Length)),
                LastEtags[group.Key]))
            .OrderBy(statistics => statistics.Name, StringComparer.Ordinal);
    }
}
