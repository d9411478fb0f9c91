namespace Treepie.Indexing.Schema;

/// <summary>
/// An order kept for each value of another field, as a compound index of a table: the first entries that have a value, in the
/// order of another field, are found without a look at the others. It is made of what the index has (see
/// <c>IndexWriter.AddCompound</c>), so it may be added at any time.
/// </summary>
/// <param name="EqualField">The field of whole values that is compared for equality.</param>
/// <param name="OrderField">The field whose sort values give the order.</param>
/// <param name="Order">How these compare.</param>
public sealed record CompoundKey(string EqualField, string OrderField, CompoundOrder Order);

/// <summary>How the values of a <see cref="CompoundKey"/> compare; those of a sort key of the same name.</summary>
public enum CompoundOrder
{
    /// <summary>As texts.</summary>
    Text,

    /// <summary>As 64-bit whole numbers.</summary>
    Long,

    /// <summary>As doubles.</summary>
    Double,
}
