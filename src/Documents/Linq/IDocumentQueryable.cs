using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// A LINQ query over documents, created by <c>session.Query&lt;T&gt;()</c>. It is translated to RQL (<see cref="ToRql"/>,
/// <c>ToString()</c>) when it is executed; captured variables have the values of that moment. An expression without an equivalent
/// in RQL throws <see cref="NotSupportedException"/>, whose message quotes the expression and suggests an alternative. Immutable:
/// every operator returns a new query.
/// </summary>
/// <remarks>
/// Strings are compared case-insensitively, as in RQL; case-sensitively with <c>exact: true</c>, <c>StringComparison.Ordinal</c>
/// or <see cref="RqlMethods.Exact"/>. See docs/howto/linq.md.
/// </remarks>
/// <typeparam name="T">The type of the results.</typeparam>
public interface IDocumentQueryable<T> : IOrderedQueryable<T>
{
    /// <summary>Filters the results by a condition.</summary>
    IDocumentQueryable<T> Where(Expression<Func<T, bool>> predicate);

    /// <summary>Filters the results by a condition; <paramref name="exact"/> makes string comparisons case-sensitive.</summary>
    IDocumentQueryable<T> Where(Expression<Func<T, bool>> predicate, bool exact);

    /// <summary>
    /// Filters the results by evaluating a condition on each document that the other conditions match, without creating an index
    /// for it. It can compare members of a document with each other.
    /// </summary>
    /// <param name="predicate">The condition.</param>
    /// <param name="limit">The maximum number of documents to evaluate.</param>
    IDocumentQueryable<T> Filter(Expression<Func<T, bool>> predicate, int limit = int.MaxValue);

    /// <summary>
    /// Matches documents that contain at least one of the words in a member, or all of them. Sorted by score unless another order
    /// is given.
    /// </summary>
    IDocumentQueryable<T> Search(Expression<Func<T, object?>> member, string words, bool allWords = false, double boost = 1);

    /// <summary>Matches documents by the spatial relation of a point, given by two members, to a shape.</summary>
    IDocumentQueryable<T> Spatial(
        Expression<Func<T, double>> latitude, Expression<Func<T, double>> longitude, SpatialCriteria criteria);

    /// <summary>Matches documents by the spatial relation of a point or shape, given by a member with WKT, to a shape.</summary>
    IDocumentQueryable<T> Spatial(Expression<Func<T, string?>> wkt, SpatialCriteria criteria);

    /// <summary>Matches the documents with the most similar vectors, among those that the other conditions match.</summary>
    IDocumentQueryable<T> VectorSearch(
        Expression<Func<T, object?>> member, float[] vector, double? minimumSimilarity = null, int numberOfCandidates = 16,
        bool exact = false);

    /// <summary>Matches documents that share the most significant words with a document.</summary>
    IDocumentQueryable<T> MoreLikeThis(string documentId, MoreLikeThisOptions? options = null);

    /// <summary>Sorts by a member, ascending.</summary>
    IDocumentQueryable<T> OrderBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Sorts by a member, descending.</summary>
    IDocumentQueryable<T> OrderByDescending<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Sorts by a further member, ascending.</summary>
    IDocumentQueryable<T> ThenBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Sorts by a further member, descending.</summary>
    IDocumentQueryable<T> ThenByDescending<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Sorts by score, highest first.</summary>
    IDocumentQueryable<T> OrderByScore();

    /// <summary>Sorts by distance from a point, nearest first unless <paramref name="descending"/>.</summary>
    IDocumentQueryable<T> OrderByDistance(
        Expression<Func<T, double>> latitude, Expression<Func<T, double>> longitude, double fromLatitude, double fromLongitude,
        bool descending = false);

    /// <summary>Sorts in a random order that is the same for the same seed.</summary>
    IDocumentQueryable<T> OrderByRandom(string seed);

    /// <summary>Projects each document to members, computed values or new objects.</summary>
    IDocumentQueryable<TResult> Select<TResult>(Expression<Func<T, TResult>> selector);

    /// <summary>Reads the results as another class, whose members are matched by their JSON names.</summary>
    IDocumentQueryable<TResult> ProjectInto<TResult>();

    /// <summary>
    /// Returns the documents themselves, when conditions use the fields that an index computes:
    /// <c>Query&lt;Orders_Totals.Result, Orders_Totals&gt;().Where(r => r.Total > 10).OfType&lt;Order&gt;()</c>.
    /// </summary>
    IDocumentQueryable<TResult> OfType<TResult>()
        where TResult : class;

    /// <summary>Removes duplicate results.</summary>
    IDocumentQueryable<T> Distinct();

    /// <summary>Skips the first results.</summary>
    IDocumentQueryable<T> Skip(int count);

    /// <summary>Limits the number of results.</summary>
    IDocumentQueryable<T> Take(int count);

    /// <summary>
    /// Includes the documents whose ids a member holds; loading them in the session then needs no further request.
    /// </summary>
    IDocumentQueryable<T> Include(Expression<Func<T, object?>> member);

    /// <summary>
    /// Same as <see cref="Include(Expression{Func{T, object}})"/>, by a path in the document, such as <c>Lines[].Product</c>.
    /// </summary>
    IDocumentQueryable<T> Include(string path);

    /// <summary>
    /// Includes documents, counters, time series, compare-exchange values and revisions; reading them in the session then needs
    /// no further request.
    /// </summary>
    /// <exception cref="NotSupportedException">The results are no longer documents of the type.</exception>
    IDocumentQueryable<T> Include(Action<IncludeBuilder<T>> includes);

    /// <summary>Returns fragments of a member with the matched words highlighted by tags.</summary>
    IDocumentQueryable<T> Highlight(
        Expression<Func<T, object?>> member, int fragmentLength, int fragmentCount, out QueryNotes highlights);

    /// <summary>Returns statistics of the query, which are filled in when it is executed.</summary>
    IDocumentQueryable<T> Statistics(out QueryStatistics statistics);

    /// <summary>Returns the query plan and the time each step took.</summary>
    IDocumentQueryable<T> Timings(out QueryNotes timings);

    /// <summary>Returns an explanation of the score of each result.</summary>
    IDocumentQueryable<T> Explain(out QueryNotes explanations);

    /// <summary>Allows stale results: answers immediately from what the index has processed so far.</summary>
    IDocumentQueryable<T> AllowStale();

    /// <summary>Waits until the index has processed every commit made before the query.</summary>
    IDocumentQueryable<T> WaitForNonStaleResults(TimeSpan? timeout = null);

    /// <summary>
    /// Leaves out results with the same value as an earlier one. Pages are of those that remain; all results are read.
    /// </summary>
    IDocumentQueryable<T> DistinctBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Groups documents by a key.</summary>
    GroupQuery<TKey, T> GroupBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Counts results by the values of a member (facets).</summary>
    FacetQuery<T> AggregateBy(Expression<Func<T, object?>> member, string? name = null);

    /// <summary>Suggests terms of a member that are similar to a text, best first.</summary>
    Task<IReadOnlyList<string>> SuggestUsingAsync(
        Expression<Func<T, object?>> member, string text, bool words = false, CancellationToken cancellationToken = default);

    /// <summary>
    /// Same as <see cref="SuggestUsingAsync(Expression{Func{T, object}}, string, bool, CancellationToken)"/>; blocks the thread.
    /// </summary>
    IReadOnlyList<string> SuggestUsing(Expression<Func<T, object?>> member, string text, bool words = false);

    /// <summary>Executes the query and returns all results.</summary>
    Task<List<T>> ToListAsync(CancellationToken cancellationToken = default);

    /// <summary>Executes the query and returns all results.</summary>
    Task<T[]> ToArrayAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the first result.</summary>
    /// <exception cref="InvalidOperationException">There are no results.</exception>
    Task<T> FirstAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the first result that matches a condition.</summary>
    /// <exception cref="InvalidOperationException">There are no results.</exception>
    Task<T> FirstAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>Returns the first result, or the default value if there is none.</summary>
    Task<T?> FirstOrDefaultAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the first result that matches a condition, or the default value if there is none.</summary>
    Task<T?> FirstOrDefaultAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>Returns the only result.</summary>
    /// <exception cref="InvalidOperationException">There is no result, or more than one.</exception>
    Task<T> SingleAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the only result that matches a condition.</summary>
    /// <exception cref="InvalidOperationException">There is no result, or more than one.</exception>
    Task<T> SingleAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>Returns the only result, or the default value if there is none.</summary>
    /// <exception cref="InvalidOperationException">There is more than one result.</exception>
    Task<T?> SingleOrDefaultAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the only result that matches a condition, or the default value if there is none.</summary>
    /// <exception cref="InvalidOperationException">There is more than one result.</exception>
    Task<T?> SingleOrDefaultAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>Returns the last result in the order of the query.</summary>
    /// <exception cref="InvalidOperationException">There are no results.</exception>
    /// <exception cref="NotSupportedException">The query has no order, or one that is not by members.</exception>
    Task<T> LastAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the last result in the order of the query, or the default value if there is none.</summary>
    /// <exception cref="NotSupportedException">The query has no order, or one that is not by members.</exception>
    Task<T?> LastOrDefaultAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns whether there is any result.</summary>
    Task<bool> AnyAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns whether any result matches a condition.</summary>
    Task<bool> AnyAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>Returns whether all results match a condition.</summary>
    Task<bool> AllAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>
    /// Returns the sum of a number over all results, computed exactly as LINQ does from the results one by one;
    /// <see cref="AggregateBy"/> sums from the index instead, in <see cref="double"/>.
    /// </summary>
    Task<TValue> SumAsync<TValue>(Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default);

    /// <summary>Returns the least value over all results; null if there is none and the type allows it.</summary>
    /// <exception cref="InvalidOperationException">There is no value, and the type has no null.</exception>
    Task<TValue> MinAsync<TValue>(Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default);

    /// <summary>Returns the greatest value over all results; null if there is none and the type allows it.</summary>
    /// <exception cref="InvalidOperationException">There is no value, and the type has no null.</exception>
    Task<TValue> MaxAsync<TValue>(Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default);

    /// <summary>Returns the average of a number over all results; null if there is none.</summary>
    Task<double?> AverageAsync<TValue>(Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default);

    /// <summary>Returns the number of results.</summary>
    Task<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the number of results that match a condition.</summary>
    Task<int> CountAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>Returns the number of results.</summary>
    Task<long> LongCountAsync(CancellationToken cancellationToken = default);

    /// <summary>Returns the number of results that match a condition.</summary>
    Task<long> LongCountAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>
    /// Defers the query: reading the value executes all pending lazy operations of the session as one request.
    /// </summary>
    Lazy<IEnumerable<T>> Lazily();

    /// <summary>Asynchronous version of <see cref="Lazily"/>.</summary>
    Lazy<Task<IEnumerable<T>>> LazilyAsync();

    /// <summary>Defers counting the results; see <see cref="Lazily"/>.</summary>
    Lazy<int> CountLazily();

    /// <summary>Asynchronous version of <see cref="CountLazily"/>.</summary>
    Lazy<Task<int>> CountLazilyAsync();

    /// <summary>Streams the results one at a time from one snapshot, for <c>await foreach</c>.</summary>
    IAsyncEnumerator<T> GetAsyncEnumerator(CancellationToken cancellationToken = default);

    /// <summary>Returns the query as RQL with its parameters, as it would be executed now.</summary>
    RqlStatement ToRql();
}
