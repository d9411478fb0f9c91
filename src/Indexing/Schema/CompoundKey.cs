namespace Treepie.Indexing.Schema;

/// <summary>
/// An order stored for each value of another field, like a compound index of a table: the first entries with a value, in the
/// order of another field, are found without examining the others. It is built from the index itself (see
/// <c>IndexWriter.TryAddCompound</c>), so it can be added at any time.
/// </summary>
/// <param name="EqualField">The whole-value field that is compared for equality.</param>
/// <param name="OrderField">The field whose sort values give the order.</param>
/// <param name="Order">How the sort values are compared.</param>
public sealed record CompoundKey(string EqualField, string OrderField, CompoundOrder Order);

/// <summary>How the values of a <see cref="CompoundKey"/> are compared; like those of a sort key of the same name.</summary>
public enum CompoundOrder
{
    /// <summary>As texts.</summary>
    Text,

    /// <summary>As 64-bit integers.</summary>
    Long,

    /// <summary>As doubles.</summary>
    Double,
}
