namespace Treepie.Linq;

/// <summary>The text of a query, and the reader of its rows.</summary>
internal sealed record TranslatedQuery(RqlStatement Statement, RowReader Rows);
