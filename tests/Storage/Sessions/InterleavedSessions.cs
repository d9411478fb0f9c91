using System.Text;
using Treepie.Storage.Sessions;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Sessions;

/// <summary>
/// Interleaves several sessions on one environment, together with its model. Each session keeps a script of its operations
/// and results; when its commit succeeds, the script is replayed on the model of that moment and must give the same results.
/// </summary>
internal sealed class InterleavedSessions(StorageEnvironment environment, Random random, int keys)
{
    private const int MostSessions = 6;

    private static readonly string[] _names = ["alpha", "beta"];

    private readonly List<Running> _running = [];
    private Model _model = new();

    public int Commits { get; private set; }

    public int Conflicts { get; private set; }

    public void Step()
    {
        int action = random.Next(100);
        if (action < 10 && _running.Count < MostSessions)
            _running.Add(new Running(environment.BeginSession(), _model.Copy()));
        else if (action < 14)
            WriteDirectly(random.Next(5) == 0 ? keys / 4 : 3);
        else if (action < 15)
            environment.Checkpoint();
        else if (_running.Count > 0)
            Continue(_running[random.Next(_running.Count)], random.Next(100));
    }

    public void Finish()
    {
        while (_running.Count > 0)
            Commit(_running[0]);
        using ReadTransaction read = environment.BeginRead();
        foreach (string name in _names)
            _ = _model.Tree(name).Count == 0 ? _model.Drop(name) : false;
        AssertSame(read);
        Assert.Empty(environment.Check().Problems);
    }

    /// <summary>Empty trees count as absent: a session creates a tree only when it puts something into it.</summary>
    private void AssertSame(ReadTransaction read)
    {
        foreach (string name in _names)
        {
            using Treepie.Storage.Trees.Cursor? cursor = read.FindTree(name)?.OpenCursor();
            bool more = cursor?.MoveFirst() ?? false;
            foreach ((byte[] key, byte[] value) in _model.Tree(name))
            {
                Assert.True(more);
                Assert.True(cursor!.Key.SequenceEqual(key)); // not null if there is an entry
                Assert.True(cursor.Value.SequenceEqual(value));
                more = cursor.MoveNext();
            }

            Assert.False(more);
        }
    }

    private void WriteDirectly(int count)
    {
        (string Name, byte[] Key, byte[]? Value)[] changes =
            [.. Enumerable.Range(0, count).Select(_ => (Pick(), Key(), random.Next(3) == 0 ? null : Value()))];
        environment.Write(transaction =>
        {
            foreach ((string name, byte[] key, byte[]? value) in changes)
            {
                if (value is null)
                    transaction.GetOrCreateTree(name).Delete(key);
                else
                    transaction.GetOrCreateTree(name).Put(key, value);
            }

            return true;
        });
        foreach ((string name, byte[] key, byte[]? value) in changes)
            Set(_model, name, key, value);
    }

    private void Continue(Running running, int action)
    {
        string name = Pick();
        SessionTree tree = running.Session.GetTree(name);
        byte[] key = Key();
        switch (action)
        {
            case < 25:
                running.Script.Add(
                    new Act(name, Kind.Get, key, tree.TryGet(key, out ReadOnlySpan<byte> found) ? found.ToArray() : null, null));
                break;
            case < 45:
                byte[] value = Value();
                tree.Put(key, value);
                running.Script.Add(new Act(name, Kind.Write, key, value, null));
                break;
            case < 52:
                tree.Delete(key);
                running.Script.Add(new Act(name, Kind.Write, key, null, null));
                break;
            case < 85:
                Walk(running, name, tree, key);
                break;
            case < 88:
                running.Session.Dispose();
                _running.Remove(running);
                break;
            default:
                Commit(running);
                break;
        }
    }

    /// <summary>
    /// Moves a cursor back and forth a few steps from a key, with writes in between. The script records each move and what
    /// was found.
    /// </summary>
    private void Walk(Running running, string name, SessionTree tree, byte[] key)
    {
        SessionCursor cursor = tree.OpenCursor();
        int start = random.Next(10);
        var move = new Move(start < 5 ? 'S' : start < 8 ? 'B' : start < 9 ? 'F' : 'L', key);
        bool there = move.Kind switch
        {
            'S' => cursor.Seek(key),
            'B' => cursor.SeekBefore(key),
            'F' => cursor.MoveFirst(),
            _ => cursor.MoveLast(),
        };
        byte[]? at = null;
        char direction = move.Kind;
        for (int steps = random.Next(12); ; steps--)
        {
            byte[]? seen = there ? [.. cursor.Key, 0, .. cursor.Value] : null;
            // 'at' is set once the cursor was on an entry.
            running.Script.Add(new Act(name, Kind.Look, direction is 'N' or 'P' ? at! : key, seen, direction));
            if (!there || steps <= 0)
                break;

            at = cursor.Key.ToArray();
            if (random.Next(5) == 0)
            {
                byte[] written = Key();
                byte[]? value = random.Next(3) == 0 ? null : Value();
                if (value is null)
                    tree.Delete(written);
                else
                    tree.Put(written, value);
                running.Script.Add(new Act(name, Kind.Write, written, value, null));
            }

            direction = random.Next(3) == 0 ? 'P' : 'N';
            there = direction == 'N' ? cursor.MoveNext() : cursor.MovePrevious();
        }

        if (random.Next(3) > 0)
            cursor.Dispose(); // the others stay open, as with a careless caller
    }

    private void Commit(Running running)
    {
        _running.Remove(running);
        try
        {
            running.Session.Commit();
            Commits++;
        }
        catch (SessionConflictException conflict)
        {
            Conflicts++;
            byte[] key = conflict.Key.ToArray();
            byte[]? before = running.Start.Tree(conflict.TreeName).GetValueOrDefault(key);
            byte[]? now = _model.Tree(conflict.TreeName).GetValueOrDefault(key);
            Assert.False(
                before is null ? now is null : now is not null && before.AsSpan().SequenceEqual(now),
                "The key that is named has not changed.");
            return;
        }

        // A session that wrote nothing may be anywhere in the order. It is placed at its snapshot.
        bool hasWritten = running.Script.Exists(step => step.Kind == Kind.Write);
        Model after = hasWritten ? _model.Copy() : running.Start;
        foreach (Act step in running.Script)
            Play(after, step);
        if (hasWritten)
            _model = after;
    }

    private static void Play(Model model, Act step)
    {
        SortedDictionary<byte[], byte[]> tree = model.Tree(step.Name);
        if (step.Kind == Kind.Write)
        {
            Set(model, step.Name, step.Key, step.Value);
            return;
        }

        byte[]? seen;
        if (step.Kind == Kind.Get)
        {
            seen = tree.GetValueOrDefault(step.Key);
        }
        else
        {
            int Order(byte[] other) => other.AsSpan().SequenceCompareTo(step.Key);
            byte[]? key = step.Direction switch
            {
                'S' => tree.Keys.FirstOrDefault(other => Order(other) >= 0),
                'N' => tree.Keys.FirstOrDefault(other => Order(other) > 0),
                'B' or 'P' => tree.Keys.LastOrDefault(other => Order(other) < 0),
                'F' => tree.Keys.FirstOrDefault(),
                _ => tree.Keys.LastOrDefault(),
            };
            seen = key is null ? null : [.. key, 0, .. tree[key]];
        }

        Assert.True(
            seen is null ? step.Value is null : step.Value is not null && seen.AsSpan().SequenceEqual(step.Value),
            $"A committed {step.Kind} saw what was not there at its commit.");
    }

    private static void Set(Model model, string name, byte[] key, byte[]? value)
    {
        if (value is null)
            model.Tree(name).Remove(key);
        else
            model.Tree(name)[key] = value;
    }

    private string Pick() => _names[random.Next(_names.Length)];

    private byte[] Key() => Encoding.UTF8.GetBytes($"key {random.Next(keys):d5}");

    private byte[] Value()
    {
        var value = new byte[random.Next(20) == 0 ? random.Next(9000) : random.Next(120)];
        random.NextBytes(value);
        return value;
    }

    private enum Kind
    {
        Get,
        Look,
        Write,
    }

    private sealed record Running(OptimisticSession Session, Model Start)
    {
        public List<Act> Script { get; } = [];
    }

    private sealed record Act(string Name, Kind Kind, byte[] Key, byte[]? Value, char? Direction);

    private readonly record struct Move(char Kind, byte[] Key);
}
