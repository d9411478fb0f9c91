using System.Collections.Immutable;
using Treepie.Storage;
using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Torture.Models;

/// <summary>The expected content of an environment. Immutable; versions share what did not change.</summary>
internal sealed class Model
{
    private static readonly ImmutableSortedDictionary<byte[], byte[]> _none = ImmutableSortedDictionary.Create<byte[], byte[]>(
        ByteOrder.Instance);

    private readonly ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> _trees;
    private readonly ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> _maps;
    private readonly ImmutableSortedDictionary<string, Model> _snapshots;

    private Model(
        ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> trees,
        ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> maps,
        ImmutableSortedDictionary<string, Model> snapshots)
    {
        _trees = trees;
        _maps = maps;
        _snapshots = snapshots;
    }

    public static Model Empty { get; } = new(
        ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<byte[], byte[]>>(StringComparer.Ordinal),
        ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<byte[], byte[]>>(StringComparer.Ordinal),
        ImmutableSortedDictionary.Create<string, Model>(StringComparer.Ordinal));

    /// <summary>The value of a key in a tree, or null.</summary>
    public byte[]? Find(string tree, byte[] key) =>
        _trees.TryGetValue(tree, out var found) && found.TryGetValue(key, out byte[]? value) ? value : null;

    /// <summary>Returns the model after a command.</summary>
    public Model Apply(IReadOnlyList<Change> changes)
    {
        if (changes.Count == 0)
            return this;

        var trees = _trees.ToBuilder();
        var maps = _maps.ToBuilder();
        var snapshots = _snapshots.ToBuilder();
        foreach (Change change in changes)
        {
            if (change.Kind == ChangeKind.Drop)
                trees.Remove(change.TreeName);
            else if (change.Kind == ChangeKind.MapDrop)
                maps.Remove(change.MapName);
            else if (change.Kind is ChangeKind.MapPut or ChangeKind.MapRemove)
                Apply(maps, change.MapName, change);
            else if (change.Kind == ChangeKind.DropSnapshot)
                snapshots.Remove(change.SnapshotName);
            else if (change.Kind != ChangeKind.Snapshot
                && (change.Kind != ChangeKind.DeleteIfThere || trees.ContainsKey(change.TreeName)))
                Apply(trees, change.TreeName, change);
        }

        // A snapshot contains the state after the command, wherever in the command it is requested.
        var left = new Model(trees.ToImmutable(), maps.ToImmutable(), Empty._snapshots);
        for (int i = 0; i < changes.Count; i++)
            if (changes[i].Kind == ChangeKind.Snapshot
                && !changes.Skip(i)
                    .Any(later => later.Kind == ChangeKind.DropSnapshot && later.SnapshotName == changes[i].SnapshotName))
                snapshots[changes[i].SnapshotName] = left;
        return new Model(left._trees, left._maps, snapshots.ToImmutable());
    }

    /// <summary>Applies to a transaction what <see cref="Apply(IReadOnlyList{Change})"/> applies to a model.</summary>
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

            if (change.Kind is ChangeKind.Snapshot or ChangeKind.DropSnapshot)
            {
                transaction.DropSnapshot(change.SnapshotName);
                if (change.Kind == ChangeKind.Snapshot)
                    transaction.CreateSnapshot(change.SnapshotName);
                continue;
            }

            if (change.Kind is ChangeKind.MapPut or ChangeKind.MapRemove or ChangeKind.MapDrop)
            {
                ApplyToMap(transaction, change);
                continue;
            }

            if (change.Kind == ChangeKind.DeleteIfThere)
            {
                transaction.FindTree(change.TreeName)?.Delete(Change.KeyOf(change.Key));
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
                else if (change.Kind == ChangeKind.Pack)
                    Pack(tree);
            }
        }
    }

    /// <summary>Packs the whole tree at once; bounded steps are for callers that must not block others.</summary>
    private static void Pack(Tree tree)
    {
        for (byte[]? from = []; from is not null;)
            from = tree.Pack(from, out _);
    }

    /// <summary>Whether another model has the same content.</summary>
    public bool HasSame(Model other) =>
        AreSame(_trees, other._trees) && AreSame(_maps, other._maps)
        && _snapshots.Count == other._snapshots.Count
        && _snapshots.Zip(other._snapshots)
            .All(
                pair => pair.First.Key == pair.Second.Key
                    && (pair.First.Value == pair.Second.Value || pair.First.Value.HasSame(pair.Second.Value)));

    /// <summary>
    /// Describes the first difference between a snapshot and this model, or returns null if they are equal. With an
    /// environment whose newest state the snapshot is, also compares named snapshots.
    /// </summary>
    public string? Difference(ReadTransaction read, StorageEnvironment? environment = null) =>
        TreeDifference(read) ?? MapDifference(read) ?? (environment is null ? null : SnapshotDifference(environment));

    private string? SnapshotDifference(StorageEnvironment environment)
    {
        string[] names = [.. environment.ListSnapshots().Select(snapshot => snapshot.Name).Order(StringComparer.Ordinal)];
        if (!_snapshots.Keys.SequenceEqual(names))
            return $"snapshots {string.Join(", ", _snapshots.Keys)} expected, {string.Join(", ", names)} found";

        foreach ((string name, Model expected) in _snapshots)
        {
            using ReadTransaction read = environment.OpenSnapshot(name);
            if (expected.Difference(read) is { } difference)
                return $"{name} (transaction {read.TransactionId}): {difference}";
        }

        return null;
    }

    private string? MapDifference(ReadTransaction read)
    {
        string[] names = [.. read.MapNames];
        if (!_maps.Keys.SequenceEqual(names))
            return $"maps {string.Join(", ", _maps.Keys)} expected, {string.Join(", ", names)} found";

        foreach ((string name, ImmutableSortedDictionary<byte[], byte[]> expected) in _maps)
        {
            if (read.FindMap<byte[], byte[], BytesSerializer, BytesSerializer>(name) is not { } map)
                return $"{name} is among the names, but not found";
            if (map.Count != expected.Count)
                return $"{name}: {expected.Count} keys expected, {map.Count} found";
            foreach ((byte[] key, byte[] value) in map)
                if (!expected.TryGetValue(key, out byte[]? wanted) || !value.AsSpan().SequenceEqual(wanted))
                    return $"{name}, key '{Show(key)}': another value ({value.Length} bytes) than expected ({wanted?.Length})";
            foreach ((byte[] key, byte[] value) in expected)
                if (!map.TryGetValue(key, out byte[]? found) || !found.AsSpan().SequenceEqual(value))
                    return $"{name}, key '{Show(key)}': a look-up gives something else than expected";
        }

        return null;
    }

    private string? TreeDifference(ReadTransaction read)
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
                    return $"tree {name}, key '{Show(key)}' (number {number}): another value ({cursor.Value.Length} bytes) than "
                        + $"expected ({value.Length})";
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

    private static void Apply(
        ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>>.Builder all, string name, Change change)
    {
        var one = (all.TryGetValue(name, out var found) ? found : _none).ToBuilder();
        for (int key = change.Key; key < change.Key + change.Count; key++)
        {
            if (change.Kind is ChangeKind.Put or ChangeKind.Reserve or ChangeKind.Fill)
                one[Change.KeyOf(key)] = change.ValueOf(key);
            else if (change.Kind is ChangeKind.Delete or ChangeKind.DeleteIfThere or ChangeKind.Clear)
                one.Remove(Change.KeyOf(key));
            else if (change.Kind == ChangeKind.MapPut)
                one[Change.MapKeyOf(key)] = change.ValueOf(key);
            else if (change.Kind == ChangeKind.MapRemove)
                one.Remove(Change.MapKeyOf(key));
        }

        all[name] = one.ToImmutable();
    }

    private static void ApplyToMap(WriteTransaction transaction, Change change)
    {
        if (change.Kind == ChangeKind.MapDrop)
        {
            transaction.DropMap<byte[], byte[], BytesSerializer, BytesSerializer>(change.MapName);
            return;
        }

        var map = transaction.GetOrCreateMap<byte[], byte[], BytesSerializer, BytesSerializer>(change.MapName);
        for (int key = change.Key; key < change.Key + change.Count; key++)
        {
            if (change.Kind == ChangeKind.MapPut)
                map[Change.MapKeyOf(key)] = change.ValueOf(key);
            else
                map.Remove(Change.MapKeyOf(key));
        }
    }

    private static bool AreSame(
        ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> one,
        ImmutableSortedDictionary<string, ImmutableSortedDictionary<byte[], byte[]>> other) =>
        one.Count == other.Count
        && one.Zip(other).All(pair => pair.First.Key == pair.Second.Key && pair.First.Value.Count == pair.Second.Value.Count
            && pair.First.Value.Zip(pair.Second.Value).All(entry =>
                entry.First.Key.AsSpan().SequenceEqual(entry.Second.Key)
                    && entry.First.Value.AsSpan().SequenceEqual(entry.Second.Value)));

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
