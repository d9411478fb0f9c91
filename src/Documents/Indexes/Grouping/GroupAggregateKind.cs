namespace Treepie.Indexes.Grouping;

/// <summary>What a <c>group by</c> computes of the values of a field.</summary>
internal enum GroupAggregateKind
{
    /// <summary>The sum of numbers.</summary>
    Sum,

    /// <summary>The least value.</summary>
    Min,

    /// <summary>The greatest value.</summary>
    Max,
}
