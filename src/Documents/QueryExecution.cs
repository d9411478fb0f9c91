namespace Treepie;

/// <summary>A query that has ended, for <see cref="DatabaseOptions.QueryExecuted"/>.</summary>
/// <param name="Database">The name of the database.</param>
/// <param name="Text">The text of the query, without the values of its parameters.</param>
/// <param name="IndexName">The index that answered it: its name, <c>collection/Users</c> or <c>AllDocs</c>.</param>
/// <param name="Duration">The time from its call to the end of reading its results.</param>
public readonly record struct QueryExecution(string Database, string Text, string IndexName, TimeSpan Duration);
