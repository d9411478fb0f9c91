using Treepie.Indexes;

namespace Treepie.Queries.Binding;

/// <summary>The index that answers a query.</summary>
/// <param name="Index">The index.</param>
/// <param name="Positions">The positions of the query's fields in the index, which never change: it only appends fields.</param>
internal sealed record ChosenIndex(DocumentIndex Index, int[] Positions)
{
    /// <summary>How many fields must be complete: all up to the last one that the query uses.</summary>
    public int FieldsNeeded { get; } = Positions.Length == 0 ? 0 : Positions.Max() + 1;
}

/// <summary>
/// The index chosen for a prepared query, until the indexes of the database change. Thread-safe, without locks.
/// </summary>
internal sealed class KeptChoice
{
    private Kept? _kept;

    /// <summary>
    /// Returns the index chosen for these fields; null if none was kept, or if the indexes have changed since.
    /// </summary>
    public ChosenIndex? Find(IReadOnlyList<FieldUse> fields, long version) =>
        Volatile.Read(ref _kept) is { } kept && kept.Version == version && ReferenceEquals(kept.Fields, fields)
            ? kept.Chosen
            : null;

    /// <summary>Keeps a choice that was made at a version of the indexes.</summary>
    public void Keep(ChosenIndex chosen, IReadOnlyList<FieldUse> fields, long version) =>
        Volatile.Write(ref _kept, new Kept(chosen, fields, version));

    /// <summary>Forgets an index that is closed.</summary>
    public void Forget() => Volatile.Write(ref _kept, null);

    private sealed record Kept(ChosenIndex Chosen, IReadOnlyList<FieldUse> Fields, long Version);
}
