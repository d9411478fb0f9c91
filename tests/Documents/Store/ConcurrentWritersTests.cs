using System.Globalization;
using System.Text;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

/// <summary>Many at once: what holds for every batch alone must hold in every snapshot.</summary>
public sealed class ConcurrentWritersTests
{
    private const int Accounts = 20;
    private const int Total = Accounts * 100;

    [Fact]
    public async Task Money_moved_between_accounts_by_change_vector_is_never_made_or_lost()
    {
        int seed = Seed.Next();
        using var directory = new TemporaryDirectory();
        await using Database database = Database.Open(directory.Path);
        var first = new WriteBatch();
        for (int account = 0; account < Accounts; account++)
            first.Put(Id(account), Json(100));
        await database.WriteAsync(first, TestContext.Current.CancellationToken);

        using var stop = new CancellationTokenSource();
        Task<int>[] readers = [
            .. Enumerable.Range(0, 2)
                .Select(_ => Task.Run(() => SumUntil(database, stop.Token), TestContext.Current.CancellationToken))];
        int[] moved = await Task.WhenAll(Enumerable.Range(0, 8).Select(
            writer => Task.Run(() => Move(database, new Random(seed + writer), 40), TestContext.Current.CancellationToken)));
        await stop.CancelAsync();

        Assert.All(await Task.WhenAll(readers), sums => Assert.True(sums > 0));
        using DatabaseSnapshot snapshot = database.BeginRead();
        Assert.Equal(Accounts + (2 * moved.Sum()), snapshot.LastEtag);
        AssertTotal(snapshot);
        Assert.Empty(database.Check(TestContext.Current.CancellationToken).Problems);
    }

    private static async Task<int> Move(Database database, Random random, int times)
    {
        int moved = 0;
        while (moved < times)
        {
            (int from, int to) = (random.Next(Accounts), random.Next(Accounts));
            if (from == to)
                continue;
            WriteBatch batch;
            using (DatabaseSnapshot snapshot = database.BeginRead())
            {
                int amount = random.Next(10);
                batch = new WriteBatch()
                    .Put(Id(from), Json(Balance(snapshot, from, out string fromVector) - amount), fromVector)
                    .Put(Id(to), Json(Balance(snapshot, to, out string toVector) + amount), toVector);
            }

            try
            {
                await database.WriteAsync(batch);
                moved++;
            }
            catch (ConcurrencyException)
            {
                // somebody else moved first: look again
            }
        }

        return moved;
    }

    private static int SumUntil(Database database, CancellationToken stop)
    {
        int sums = 0;
        do
        {
            using DatabaseSnapshot snapshot = database.BeginRead();
            AssertTotal(snapshot);
            sums++;
        }
        while (!stop.IsCancellationRequested);
        return sums;
    }

    private static void AssertTotal(DatabaseSnapshot snapshot)
    {
        int total = 0;
        using (DocumentCursor cursor = snapshot.ByCollection("Accounts"))
            while (cursor.MoveNext())
                total += Amount(cursor.Current);
        Assert.Equal(Total, total);
    }

    private static int Balance(DatabaseSnapshot snapshot, int account, out string changeVector)
    {
        Assert.True(snapshot.TryGet(Id(account), out Document document));
        changeVector = document.ChangeVector;
        return Amount(document);
    }

    private static int Amount(Document document) => int.Parse(document.Body[5..^1], CultureInfo.InvariantCulture); // {"n":100}

    private static string Id(int account) => $"accounts/{account}";

    private static byte[] Json(int amount) =>
        Encoding.UTF8.GetBytes($$$"""{"n":{{{amount}}},"@metadata":{"@collection":"Accounts"}}""");
}
