using System.Buffers.Binary;
using System.Text;
using Treepie.Storage.Sessions;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Sessions;

/// <summary>
/// Whatever sessions do concurrently, the result must be that of running the committed ones one after the other, in commit order.
/// </summary>
public sealed class SerialOrderTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Interleaved_sessions_read_what_they_would_read_alone_at_their_commit_and_conflict_only_over_what_changed()
    {
        var random = new Random(Seed.Next());
        int commits = 0, conflicts = 0;
        for (int round = 0; round < 4; round++)
        {
            using var directory = new TemporaryDirectory();
            using StorageEnvironment environment = StorageEnvironment.Open(
                directory.Path, new StorageOptions { Durability = round % 2 == 0 ? Durability.Durable : Durability.Relaxed });
            var world = new InterleavedSessions(environment, random, keys: round < 2 ? 40 : 3000);
            for (int i = 0; i < 1500; i++)
                world.Step();
            world.Finish();
            commits += world.Commits;
            conflicts += world.Conflicts;
        }

        Assert.True(commits > 100 && conflicts > 20, $"{commits} commits and {conflicts} conflicts: the mix shows nothing.");
    }

    [Fact]
    public async Task Money_that_many_sessions_move_is_neither_made_nor_lost()
    {
        const int Accounts = 12, Start = 100;
        int seed = Seed.Next();
        using StorageEnvironment environment = StorageEnvironment.Open(
            _directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        environment.Write(transaction =>
        {
            for (int i = 0; i < Accounts; i++)
                transaction.GetOrCreateTree("accounts").Put(Name(i), Amount(Start));
            return true;
        });
        await Task.WhenAll(Enumerable.Range(0, 4).Select(worker => Task.Run(async () =>
        {
            var random = new Random(seed + worker);
            for (int i = 0; i < 200; i++)
            {
                int from = random.Next(Accounts), to = random.Next(Accounts), amount = random.Next(1, 60);
                await environment.RunSessionAsync(
                    async (session, _) =>
                    {
                        // No transfer may overdraw an account. Every fourth one also verifies the sum over all accounts.
                        SessionTree accounts = session.GetTree("accounts");
                        if (i % 4 == 0)
                            Assert.Equal(Accounts * Start, Sum(accounts));
                        long left = Read(accounts, from) - amount;
                        await Task.Yield();
                        if (left < 0 || from == to)
                            return false;
                        accounts.Put(Name(from), Amount(left));
                        accounts.Put(Name(to), Amount(Read(accounts, to) + amount));
                        return true;
                    },
                    attempts: 1000);
            }
        })));
        using OptimisticSession after = environment.BeginSession();
        Assert.Equal(Accounts * Start, Sum(after.GetTree("accounts")));
        Assert.All(Enumerable.Range(0, Accounts), account => Assert.True(Read(after.GetTree("accounts"), account) >= 0));
    }

    [Fact]
    public async Task A_rule_over_a_stretch_holds_though_everyone_adds_to_it_at_once()
    {
        const int Limit = 25;
        int seed = Seed.Next();
        using StorageEnvironment environment = StorageEnvironment.Open(
            _directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        int refused = 0;
        await Task.WhenAll(Enumerable.Range(0, 4).Select(worker => Task.Run(() =>
        {
            var random = new Random(seed + worker);
            for (int i = 0; i < 20; i++)
            {
                byte[] key = Encoding.UTF8.GetBytes($"guest/{random.NextInt64()}");
                bool added = environment.RunSession(
                    session =>
                    {
                        SessionTree guests = session.GetTree("guests");
                        int count = 0;
                        using (SessionCursor cursor = guests.OpenCursor())
                            for (bool more = cursor.Seek("guest/"u8); more; more = cursor.MoveNext())
                                count++;
                        if (count >= Limit)
                            return false;
                        guests.Put(key, default);
                        return true;
                    },
                    attempts: 1000);
                if (!added)
                    Interlocked.Increment(ref refused);
            }
        })));
        using ReadTransaction after = environment.BeginRead();
        Assert.Equal(Limit, after.FindTree("guests")!.Count);
        Assert.Equal((4 * 20) - Limit, refused);
    }

    private static byte[] Name(int account) => Encoding.UTF8.GetBytes($"account {account}");

    private static byte[] Amount(long amount)
    {
        var bytes = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, amount);
        return bytes;
    }

    private static long Read(SessionTree accounts, int account) =>
        accounts.TryGet(Name(account), out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : throw new InvalidOperationException("No account.");

    private static long Sum(SessionTree accounts)
    {
        long sum = 0;
        using SessionCursor cursor = accounts.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            sum += BinaryPrimitives.ReadInt64LittleEndian(cursor.Value);
        return sum;
    }
}
