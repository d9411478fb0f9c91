namespace Treepie.Rql;

/// <summary>
/// Where in a query something is refused. A word just before it may be the mistake, if it could be taken for a name there:
/// 'take' in <c>from Orders take 5</c>.
/// </summary>
[Flags]
internal enum QueryPlaces
{
    /// <summary>A place with no advice of its own.</summary>
    Elsewhere = 1,

    /// <summary>The beginning of the query.</summary>
    Beginning = 1 << 1,

    /// <summary>Where a clause or the end of the query is expected.</summary>
    Clause = 1 << 2,
    BeforeClause = 1 << 3,

    /// <summary>After an operand of a condition.</summary>
    Operator = 1 << 4,
    BeforeOperator = 1 << 5,

    /// <summary>Where the name of a source or an operand of a condition is expected.</summary>
    Name = 1 << 6,

    /// <summary>Where a selected value is expected.</summary>
    Selected = 1 << 7,
    BeforeSelected = 1 << 8,

    /// <summary>Where a value to compare with is expected.</summary>
    Value = 1 << 9,

    /// <summary>Where an argument of a call is expected.</summary>
    Argument = 1 << 10,

    /// <summary>Where a call is expected to end.</summary>
    Closing = 1 << 11,
    BeforeClosing = 1 << 12,

    /// <summary>Where a member of a path, or the index of an element, is expected.</summary>
    Member = 1 << 13,

    /// <summary>The name of a function that cannot be called.</summary>
    Call = 1 << 14,

    /// <summary>The path of a field that no document has.</summary>
    Field = 1 << 15,

    /// <summary>After the source of a query, where nothing else was read yet.</summary>
    Source = 1 << 16,

    BeforeAny = BeforeClause | BeforeOperator | BeforeSelected | BeforeClosing,
    Anywhere = ~0,
}
