namespace Treepie.Computations;

/// <summary>What a script adds to the answer of a query.</summary>
internal enum ScriptIncludeKind
{
    /// <summary>A document, by its id.</summary>
    Document,

    /// <summary>A compare-exchange value, by its key.</summary>
    CompareExchange,

    /// <summary>A revision, by its change vector.</summary>
    Revision,
}
