namespace Treepie.Server.Operations;

/// <summary>The kinds of operations that clients read as classes of their own.</summary>
internal enum OperationKind
{
    /// <summary>Any other one.</summary>
    Other,

    /// <summary>A deletion or patch by query.</summary>
    Change,

    /// <summary>A bulk insert.</summary>
    BulkInsert,

    /// <summary>An export or import.</summary>
    Smuggler,
}
