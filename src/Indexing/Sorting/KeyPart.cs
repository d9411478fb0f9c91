namespace Treepie.Indexing.Sorting;

/// <summary>Writes one part of a sort key.</summary>
internal abstract class KeyPart
{
    public const byte NullsFirstRank = 0;
    public const byte ValueRank = 1;
    public const byte NullsLastRank = 2;

    /// <summary>Appends the part of an entry. Entries are mostly asked for in ascending order, which is cheap.</summary>
    public abstract void Append(long id, float score, KeyBuffer key);
}
