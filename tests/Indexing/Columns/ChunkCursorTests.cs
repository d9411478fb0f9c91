using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Columns;

public sealed class ChunkCursorTests
{
    [Fact]
    public void Chunks_are_found_in_any_order_with_gaps_between_them_and_in_pages_of_their_own()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var model = new Dictionary<long, byte[]>();
        store.Environment.Write(transaction =>
        {
            var tree = transaction.GetOrCreateTree("column");
            byte[] key = new byte[EntryKey.Bytes];
            for (long chunk = 0; chunk < 3_000; chunk += 1 + (chunk is > 500 and < 2_000 ? 0 : random.Next(3)))
            {
                byte[] value = new byte[random.Next(60) == 0 ? random.Next(9_000) : random.Next(1, 200)];
                random.NextBytes(value);
                EntryKey.Write(key, chunk);
                tree.Put(key, value);
                model.Add(chunk, value);
            }

            return true;
        }, TestContext.Current.CancellationToken);

        using ReadTransaction read = store.Environment.BeginRead();
        using var cursor = new ChunkCursor(read.FindTree("column"));
        for (int round = 0; round < 300; round++)
        {
            long chunk = random.Next(3_100);
            for (int step = 0; step < 40; step++, chunk += random.Next(8) switch { 0 => random.Next(-60, 60), 1 => 0, _ => 1 })
            {
                chunk = Math.Clamp(chunk, 0, 3_100);
                Assert.Equal(model.GetValueOrDefault(chunk, []), cursor.Read(chunk).ToArray());
            }
        }
    }
}
