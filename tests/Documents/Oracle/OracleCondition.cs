namespace Treepie.Documents.Tests.Oracle;

/// <summary>A condition twice: as it is written, and as a function that says whether a document meets it.</summary>
/// <param name="Text">In the query language.</param>
/// <param name="Holds">Whether a document meets it.</param>
public sealed record OracleCondition(string Text, Func<OracleDocument, bool> Holds);

/// <summary>A key of an order twice: as it is written, and as a comparison. 0 where documents are equal.</summary>
public sealed record OracleOrder(string Text, Comparison<OracleDocument> Compare);
