using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Kinds;

/// <summary>
/// Random work on documents, counters and compare-exchange values, told at the same time to dictionaries; both must agree, now,
/// in snapshots held and after reopening.
/// </summary>
public sealed class KindsModelTests
{
    private const int Steps = 600;

    [Fact]
    public async Task Counters_and_compare_exchange_values_agree_with_dictionaries()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        var counters = new SortedDictionary<(string Id, string Name), long>();
        var documents = new HashSet<string>(StringComparer.Ordinal);
        var values = new Dictionary<string, (long Index, int Value)>(StringComparer.Ordinal);
        (DatabaseSnapshot Snapshot, List<((string, string), long)> Counters)? held = null;
        Database database = Database.Open(directory.Path);
        for (int step = 0; step < Steps; step++)
        {
            await StepAsync(database, random, documents, counters, values);
            if (step % 50 == 7)
            {
                held?.Snapshot.Dispose();
                held = (database.BeginRead(), [.. counters.Select(static counter => (counter.Key, counter.Value))]);
            }

            if (step % 100 == 99)
            {
                foreach (((string id, string name), long value) in held!.Value.Counters)
                    Assert.Equal(value, held.Value.Snapshot.Counter(id.ToUpperInvariant(), name.ToUpperInvariant())?.Value);
                Compare(database, documents, counters, values);
                KindInvariants.Check(database);
                held.Value.Snapshot.Dispose();
                held = null;
                if (step % 200 == 199)
                    await database.PurgeTombstonesAsync(database.LastEtag - 20, TestContext.Current.CancellationToken);
                await database.DisposeAsync();
                database = Database.Open(directory.Path);
            }
        }

        Compare(database, documents, counters, values);
        KindInvariants.Check(database);
        await database.DisposeAsync();
    }

    private static async Task StepAsync(
        Database database, Random random, HashSet<string> documents, SortedDictionary<(string Id, string Name), long> counters,
        Dictionary<string, (long Index, int Value)> values)
    {
        using var batch = new WriteBatch();
        string id = $"docs/{random.Next(12)}", name = $"c{random.Next(5)}", key = $"key/{random.Next(8)}";
        bool fails = false;
        for (int i = random.Next(1, 4); i > 0 && !fails; i--)
        {
            switch (random.Next(8))
            {
                case 0:
                    batch.Delete(id);
                    documents.Remove(id);
                    foreach ((string, string) gone in counters.Keys.Where(counter => counter.Id == id).ToList())
                        counters.Remove(gone);
                    break;
                case 1 or 2:
                    batch.Put(id, "{\"a\":1,\"@metadata\":{\"@flags\":\"HasCounters\",\"@counters\":[\"echo\"]}}"u8.ToArray());
                    documents.Add(id);
                    break;
                case 3:
                    batch.DeleteCounter(id, name.ToUpperInvariant());
                    counters.Remove((id, name));
                    break;
                default:
                    if (!documents.Contains(id))
                        break;
                    int delta = random.Next(-100, 100);
                    batch.IncrementCounter(id, random.Next(2) == 0 ? name : name.ToUpperInvariant(), delta);
                    counters[(id, name)] = counters.GetValueOrDefault((id, name)) + delta;
                    break;
            }
        }

        (long index, int _) = values.GetValueOrDefault(key);
        bool isRight = random.Next(4) != 0, deletes = random.Next(3) == 0;
        int value = random.Next();
        long expected = isRight ? index : index + 1;
        if (deletes)
            batch.DeleteCompareExchange(key, expected);
        else
            batch.PutCompareExchange(key, Encoding.UTF8.GetBytes($"{{\"Object\":{value}}}"), expected);
        IReadOnlyList<WriteResult> results = await database.WriteAsync(batch, TestContext.Current.CancellationToken);
        var result = (CompareExchangeResult)results[^1].Beside!;
        Assert.Equal(isRight || (deletes && index == 0), result.IsSuccessful);
        if (!result.IsSuccessful)
            Assert.Equal(index, result.Index);
        else if (deletes)
            values.Remove(key);
        else
            values[key] = (result.Index, value);
    }

    private static void Compare(
        Database database, HashSet<string> documents, SortedDictionary<(string Id, string Name), long> counters,
        Dictionary<string, (long Index, int Value)> values)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(documents.Count, snapshot.DocumentCount);
        foreach (string id in documents)
        {
            Assert.Equal(
                counters.Where(counter => counter.Key.Id == id).Select(static counter => (counter.Key.Name, counter.Value)),
                snapshot.Counters(id).Select(static counter => (counter.Name.ToLowerInvariant(), counter.Value)));
            Assert.True(snapshot.TryGet(id, out Document document));
            var output = new System.Buffers.ArrayBufferWriter<byte>();
            document.WriteTo(output);
            string text = Encoding.UTF8.GetString(output.WrittenSpan);
            string names = string.Join(",", snapshot.Counters(id).Select(static counter => $"\"{counter.Name}\""));
            Assert.Equal(
                names.Length > 0, text.Contains($"\"@flags\":\"HasCounters\",\"@counters\":[{names}]", StringComparison.Ordinal));
            Assert.Equal(names.Length > 0, text.Contains("@flags", StringComparison.Ordinal));
        }

        Assert.Equal(
            values.OrderBy(static value => value.Key, StringComparer.Ordinal)
                .Select(static value => (value.Key, value.Value.Index, $"{{\"Object\":{value.Value.Value}}}")),
            snapshot.CompareExchangeStartingWith("KEY/")
                .Select(static value => (value.Key, value.Index, Encoding.UTF8.GetString(value.Body.Span))));
    }
}
