using System.Collections.Immutable;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Torture.Models;

/// <summary>What an environment should hold. Immutable; versions share what did not change.</summary>
internal sealed class Model
{
    private readonly ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> _trees;

    private Model(ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> trees) => _trees = trees;

    public static Model Empty { get; } = new(ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<byte[], byte[]>>(StringComparer.Ordinal));

    /// <summary>The model after a command.</summary>
    public Model Apply(IReadOnlyList<Change> changes)
    {
        var trees = _trees.ToBuilder();
        foreach (Change change in changes)
        {
            if (change.Kind == ChangeKind.Drop)
            {
                trees.Remove(change.TreeName);
                continue;
            }

            var tree = (trees.TryGetValue(change.TreeName, out var found) ? found : ImmutableSortedDictionary.Create<byte[], byte[]>(ByteOrder.Instance)).ToBuilder();
            for (int key = change.Key; key < change.Key + change.Count; key++)
            {
                if (change.Kind is ChangeKind.Put or ChangeKind.Reserve or ChangeKind.Fill)
                    tree[Change.KeyOf(key)] = change.ValueOf(key);
                else if (change.Kind is ChangeKind.Delete or ChangeKind.Clear)
                    tree.Remove(Change.KeyOf(key));
            }

            trees[change.TreeName] = tree.ToImmutable();
        }

        return new Model(trees.ToImmutable());
    }

    /// <summary>Does to a transaction what <see cref="Apply(IReadOnlyList{Change})"/> does to a model.</summary>
    public static void Apply(WriteTransaction transaction, IReadOnlyList<Change> changes)
    {
        foreach (Change change in changes)
        {
            if (change.Kind == ChangeKind.GiveUp)
                throw new FormatException("on purpose");
            if (change.Kind == ChangeKind.Drop)
            {
                transaction.DropTree(change.TreeName);
                continue;
            }

            Tree tree = transaction.GetOrCreateTree(change.TreeName);
            for (int key = change.Key; key < change.Key + change.Count; key++)
            {
                if (change.Kind is ChangeKind.Put or ChangeKind.Fill)
                    tree.Put(Change.KeyOf(key), change.ValueOf(key));
                else if (change.Kind is ChangeKind.Reserve)
                    Change.FillValue(tree.Reserve(Change.KeyOf(key), change.Length), key, change.Version);
                else if (change.Kind is ChangeKind.Delete or ChangeKind.Clear)
                    tree.Delete(Change.KeyOf(key));
            }
        }
    }

    /// <summary>Whether another one holds the same.</summary>
    public bool HasSame(Model other) =>
        _trees.Count == other._trees.Count
        && _trees.Zip(other._trees).All(pair => pair.First.Key == pair.Second.Key && pair.First.Value.Count == pair.Second.Value.Count
            && pair.First.Value.Zip(pair.Second.Value).All(entry =>
                entry.First.Key.AsSpan().SequenceEqual(entry.Second.Key) && entry.First.Value.AsSpan().SequenceEqual(entry.Second.Value)));

    /// <summary>What a snapshot holds that this does not, or the other way round, in a sentence; null where they are equal.</summary>
    public string? Difference(ReadTransaction read)
    {
        string[] names = [.. read.TreeNames];
        if (!_trees.Keys.SequenceEqual(names))
            return $"trees {string.Join(", ", _trees.Keys)} expected, {string.Join(", ", names)} found";

        foreach ((string name, ImmutableSortedDictionary<byte[], byte[]> expected) in _trees)
        {
            if (read.FindTree(name) is not { } tree)
                return $"tree {name} is among the names, but not found";
            if (tree.Count != expected.Count)
                return $"tree {name}: {expected.Count} keys expected, {tree.Count} found";

            using Cursor cursor = tree.OpenCursor();
            bool more = cursor.MoveFirst();
            int number = 0;
            foreach ((byte[] key, byte[] value) in expected)
            {
                if (!more)
                    return $"tree {name} ends after {number} of {expected.Count} keys";
                if (!cursor.Key.SequenceEqual(key))
                    return $"tree {name}, key {number}: '{Show(key)}' expected, '{Show(cursor.Key)}' found";
                if (!cursor.Value.SequenceEqual(value))
                    return $"tree {name}, key '{Show(key)}' (number {number}): another value ({cursor.Value.Length} bytes) than expected ({value.Length})";
                if (number % 4 == 0 && (!tree.TryGet(key, out ReadOnlySpan<byte> found) || !found.SequenceEqual(value)))
                    return $"tree {name}, key '{Show(key)}': a look-up gives something else than the cursor";
                more = cursor.MoveNext();
                number++;
            }

            if (more)
                return $"tree {name}: more than the {expected.Count} keys expected";
        }

        return null;
    }

    private static string Show(ReadOnlySpan<byte> key)
    {
        string text = System.Text.Encoding.UTF8.GetString(key);
        return text.Length > 40 ? text[..40] + "…" : text;
    }

    private sealed class ByteOrder : IComparer<byte[]>
    {
        public static readonly ByteOrder Instance = new();

        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
