namespace Treepie.Indexing.Sorting;

/// <summary>Writes one part of a sort key.</summary>
internal abstract class KeyPart
{
    public const byte NullsFirstRank = 0;
    public const byte ValueRank = 1;
    public const byte NullsLastRank = 2;

    /// <summary>Appends the part of an entry. Entries are mostly asked for in ascending order, which is cheap.</summary>
    public abstract void Append(long id, float score, KeyBuffer key);

    /// <summary>
    /// The first eight bytes of what <see cref="Append"/> would write, as a number, or less: a hit for which this is above the
    /// worst kept hit is left out without its key being written. 0 where nothing is known cheaply.
    /// </summary>
    public virtual ulong Least(long id) => 0;
}
