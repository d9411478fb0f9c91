using System.Text;
using Treepie.Storage.Sessions;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Sessions;

public sealed class OptimisticSessionTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public OptimisticSessionTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        _environment.Write(transaction =>
        {
            for (int i = 0; i < 1000; i += 10)
                transaction.GetOrCreateTree("numbers").Put(Key(i), Key(i));
            return true;
        });
    }

    public void Dispose()
    {
        Assert.Empty(_environment.Check(TestContext.Current.CancellationToken).Problems);
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void A_session_sees_its_own_writes_and_nobody_else_does_before_the_commit()
    {
        using OptimisticSession session = _environment.BeginSession();
        SessionTree tree = session.GetTree("numbers");
        tree.Put(Key(5), "five"u8);
        tree.Delete(Key(10));
        Assert.True(tree.TryGet(Key(5), out ReadOnlySpan<byte> five));
        Assert.Equal("five", Encoding.UTF8.GetString(five));
        Assert.False(tree.Contains(Key(10)));
        Assert.Equal([0, 5, 20], Scan(tree, 0, 25));
        using (ReadTransaction read = _environment.BeginRead())
        {
            Assert.False(read.FindTree("numbers")!.Contains(Key(5)));
            Assert.True(read.FindTree("numbers")!.Contains(Key(10)));
        }

        long transaction = session.Commit(TestContext.Current.CancellationToken);
        using ReadTransaction after = _environment.BeginRead();
        Assert.Equal(transaction, after.TransactionId);
        Assert.True(after.FindTree("numbers")!.Contains(Key(5)));
        Assert.False(after.FindTree("numbers")!.Contains(Key(10)));
    }

    [Fact]
    public void A_key_that_another_commit_changed_is_a_conflict_that_names_it_and_leaves_nothing()
    {
        using OptimisticSession session = _environment.BeginSession();
        SessionTree tree = session.GetTree("numbers");
        Assert.True(tree.Contains(Key(50)));
        tree.Put(Key(51), "x"u8);
        Put(50, "other");
        SessionConflictException conflict = Assert.Throws<SessionConflictException>(
            () => session.Commit(TestContext.Current.CancellationToken));
        Assert.Equal("numbers", conflict.TreeName);
        Assert.Equal(Key(50), conflict.Key);
        Assert.Contains("'numbers'", conflict.Message, StringComparison.Ordinal);
        using ReadTransaction after = _environment.BeginRead();
        Assert.False(after.FindTree("numbers")!.Contains(Key(51)));
    }

    [Fact]
    public void A_change_beside_what_was_read_is_no_conflict_though_it_is_in_the_same_page()
    {
        using OptimisticSession session = _environment.BeginSession();
        SessionTree tree = session.GetTree("numbers");
        Assert.True(tree.Contains(Key(50)));
        Assert.Equal([100, 110, 120], Scan(tree, 100, 120));
        tree.Put(Key(999), "x"u8);
        Put(60, "other");
        Put(95, "before");
        Put(121, "after");
        session.Commit(TestContext.Current.CancellationToken);
    }

    [Theory]
    [InlineData(105)] // a phantom within the range
    [InlineData(100)] // the first key read
    [InlineData(120)] // the last key read
    [InlineData(99)] // between the key sought and the key found
    public void A_change_in_a_stretch_that_was_read_is_a_conflict(int changed)
    {
        using OptimisticSession session = _environment.BeginSession();
        SessionTree tree = session.GetTree("numbers");
        using (SessionCursor cursor = tree.OpenCursor())
        {
            Assert.True(cursor.Seek(Key(98)));
            Assert.True(cursor.MoveNext());
            Assert.True(cursor.MoveNext());
        }

        tree.Put(Key(999), "x"u8);
        Put(changed, "other");
        SessionConflictException conflict = Assert.Throws<SessionConflictException>(
            () => session.Commit(TestContext.Current.CancellationToken));
        Assert.Equal(Key(changed), conflict.Key);
    }

    [Fact]
    public void A_key_found_absent_and_a_scan_that_reached_the_end_conflict_with_an_insert()
    {
        using OptimisticSession first = _environment.BeginSession(), second = _environment.BeginSession();
        Assert.False(first.GetTree("none").Contains("a"u8));
        first.GetTree("none").Put("b"u8, default);
        using (SessionCursor cursor = second.GetTree("numbers").OpenCursor())
        {
            Assert.True(cursor.MoveLast());
            Assert.False(cursor.MoveNext());
        }

        second.GetTree("numbers").Put(Key(1), default);
        _environment.Write(transaction => transaction.GetOrCreateTree("none").Put("a"u8, default));
        Put(5000, "new last");
        Assert.Throws<SessionConflictException>(() => first.Commit(TestContext.Current.CancellationToken));
        Assert.Throws<SessionConflictException>(() => second.Commit(TestContext.Current.CancellationToken));
    }

    [Fact]
    public void Of_two_sessions_that_each_read_what_the_other_writes_one_conflicts()
    {
        using OptimisticSession first = _environment.BeginSession(), second = _environment.BeginSession();
        foreach (OptimisticSession session in new[] { first, second })
        {
            Assert.True(session.GetTree("numbers").Contains(Key(10)));
            Assert.True(session.GetTree("numbers").Contains(Key(20)));
        }

        first.GetTree("numbers").Put(Key(10), default);
        second.GetTree("numbers").Put(Key(20), default);
        first.Commit(TestContext.Current.CancellationToken);
        Assert.Equal(
            Key(10), Assert.Throws<SessionConflictException>(() => second.Commit(TestContext.Current.CancellationToken)).Key);
    }

    [Fact]
    public void Writes_without_reads_never_conflict_and_a_session_that_only_reads_commits_at_its_snapshot()
    {
        using OptimisticSession blind = _environment.BeginSession(), reading = _environment.BeginSession();
        blind.GetTree("numbers").Put(Key(10), "mine"u8);
        Assert.True(reading.GetTree("numbers").Contains(Key(10)));
        Put(10, "other");
        Assert.Equal(reading.SnapshotId, reading.Commit(TestContext.Current.CancellationToken));
        blind.Commit(TestContext.Current.CancellationToken);
        using ReadTransaction after = _environment.BeginRead();
        Assert.True(after.FindTree("numbers")!.TryGet(Key(10), out ReadOnlySpan<byte> value));
        Assert.Equal("mine", Encoding.UTF8.GetString(value));
    }

    [Fact]
    public void Reading_more_than_the_session_may_remember_is_a_clear_error_and_a_long_scan_is_one_stretch()
    {
        using OptimisticSession session = _environment.BeginSession(
            new OptimisticSessionOptions { MaxReadBytes = 8 << 10, MaxWriteBytes = 4 << 10 });
        SessionTree tree = session.GetTree("numbers");
        Assert.Equal(100, Scan(tree, 0, 10_000).Count);
        Assert.InRange(session.ReadBytes, 1, 500);
        SessionLimitException reads = Assert.Throws<SessionLimitException>(() =>
        {
            for (int i = 0; i < 10_000; i++)
                tree.Contains(Key(i));
        });
        Assert.Contains("MaxReadBytes", reads.Message, StringComparison.Ordinal);
        SessionLimitException writes = Assert.Throws<SessionLimitException>(() => tree.Put("large"u8, new byte[5000]));
        Assert.Contains("MaxWriteBytes", writes.Message, StringComparison.Ordinal);
        tree.Put("small"u8, default);
        session.Commit(TestContext.Current.CancellationToken); // the session hit its limit, but can still commit
    }

    [Fact]
    public void Reading_a_key_again_costs_no_memory()
    {
        using OptimisticSession session = _environment.BeginSession();
        SessionTree tree = session.GetTree("numbers");
        tree.Contains(Key(10));
        long bytes = session.ReadBytes;
        for (int i = 0; i < 1000; i++)
            tree.Contains(Key(10));
        Assert.Equal(bytes, session.ReadBytes);
    }

    [Fact]
    public void Bad_keys_and_values_are_refused_and_an_ended_session_says_so()
    {
        OptimisticSession session = _environment.BeginSession();
        SessionTree tree = session.GetTree("numbers");
        SessionCursor cursor = tree.OpenCursor();
        Assert.Throws<ArgumentException>(() => tree.Put(new byte[Treepie.Storage.Trees.Tree.MaxKeyBytes + 1], default));
        Assert.Throws<ArgumentException>(() => tree.Delete(new byte[Treepie.Storage.Trees.Tree.MaxKeyBytes + 1]));
        Assert.Throws<ArgumentException>(() => session.GetTree(new string('x', Treepie.Storage.Trees.Tree.MaxKeyBytes + 1)));
        Assert.Throws<InvalidOperationException>(() => cursor.MoveNext());
        session.Dispose();
        session.Dispose();
        cursor.Dispose();
        Assert.Throws<ObjectDisposedException>(() => tree.Contains("a"u8));
        Assert.Throws<ObjectDisposedException>(() => tree.Put("a"u8, default));
        Assert.Throws<ObjectDisposedException>(() => cursor.MoveFirst());
        Assert.Throws<ObjectDisposedException>(() => session.Commit(TestContext.Current.CancellationToken));
        Assert.Throws<ObjectDisposedException>(() => session.GetTree("numbers"));
    }

    [Fact]
    public async Task A_session_goes_on_after_an_await_on_another_thread()
    {
        using OptimisticSession session = _environment.BeginSession();
        session.GetTree("numbers").Put(Key(1), "one"u8);
        await Task.Run(() => session.GetTree("numbers").Put(Key(2), "two"u8), TestContext.Current.CancellationToken);
        await Task.Yield();
        long committed = await session.CommitAsync(TestContext.Current.CancellationToken);
        using ReadTransaction after = _environment.BeginRead();
        Assert.Equal(committed, after.TransactionId);
        Assert.True(after.FindTree("numbers")!.Contains(Key(2)));
    }

    [Fact]
    public async Task A_session_is_tried_again_after_a_conflict_and_no_more_often_than_asked()
    {
        int runs = 0;
        int value = _environment.RunSession(session =>
        {
            session.GetTree("numbers").Contains(Key(10));
            session.GetTree("numbers").Put(Key(11), default);
            if (++runs < 3)
                Put(10, $"other {runs}");
            return runs;
        });
        Assert.Equal(3, value);

        runs = 0;
        await Assert.ThrowsAsync<SessionConflictException>(async () => await _environment.RunSessionAsync(
            async (session, cancellation) =>
            {
                session.GetTree("numbers").Contains(Key(10));
                session.GetTree("numbers").Put(Key(11), default);
                await Task.Yield();
                Put(10, $"another {++runs}");
                return runs;
            },
            attempts: 4,
            cancellationToken: TestContext.Current.CancellationToken));
        Assert.Equal(4, runs);

        Assert.Throws<FormatException>(() => _environment.RunSession<int>(session =>
        {
            session.GetTree("numbers").Put(Key(7), default);
            throw new FormatException("on purpose");
        }));
        using ReadTransaction after = _environment.BeginRead();
        Assert.False(after.FindTree("numbers")!.Contains(Key(7)));
    }

    private static byte[] Key(int number) => Encoding.UTF8.GetBytes($"{number:d6}");

    private static List<int> Scan(SessionTree tree, int from, int to)
    {
        var found = new List<int>();
        using SessionCursor cursor = tree.OpenCursor();
        for (bool more = cursor.Seek(Key(from)); more; more = cursor.MoveNext())
        {
            int number = int.Parse(cursor.Key, System.Globalization.CultureInfo.InvariantCulture);
            if (number <= to)
                found.Add(number);
            if (number >= to)
                break;
        }

        return found;
    }

    private void Put(int number, string value) =>
        _environment.Write(transaction => transaction.GetOrCreateTree("numbers").Put(Key(number), Encoding.UTF8.GetBytes(value)));
}
