using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// A query in LINQ over documents, as <c>session.Query&lt;T&gt;()</c> gives it. It becomes RQL (<see cref="ToRql"/>, or
/// <c>ToString()</c>) when it is run; captured variables count as they are then. What has no RQL of the same meaning throws
/// <see cref="NotSupportedException"/>, which quotes the expression and says what to write instead. Immutable: every operator
/// gives another query.
/// </summary>
/// <remarks>
/// Texts compare without case, as in RQL; with case under <c>exact: true</c>, <c>StringComparison.Ordinal</c> or
/// <see cref="RqlMethods.Exact"/>. See docs/howto/linq.md.
/// </remarks>
/// <typeparam name="T">What results are.</typeparam>
public interface IDocumentQueryable<T> : IOrderedQueryable<T>
{
    /// <summary>Results for which a condition holds.</summary>
    IDocumentQueryable<T> Where(Expression<Func<T, bool>> predicate);

    /// <summary>As <see cref="Where(Expression{Func{T, bool}})"/>, texts compared with case.</summary>
    IDocumentQueryable<T> Where(Expression<Func<T, bool>> predicate, bool exact);

    /// <summary>
    /// Results for which a condition holds, looked at in each document that the other conditions leave: no index is made for it.
    /// It can compare members of a document with one another.
    /// </summary>
    /// <param name="predicate">The condition.</param>
    /// <param name="limit">Most documents that are looked at.</param>
    IDocumentQueryable<T> Filter(Expression<Func<T, bool>> predicate, int limit = int.MaxValue);

    /// <summary>Documents with words in a member: at least one, or all. Best first where there is no other order.</summary>
    IDocumentQueryable<T> Search(Expression<Func<T, object?>> member, string words, bool allWords = false, double boost = 1);

    /// <summary>Documents whose place, by latitude and longitude, lies so to a shape.</summary>
    IDocumentQueryable<T> Spatial(
        Expression<Func<T, double>> latitude, Expression<Func<T, double>> longitude, SpatialCriteria criteria);

    /// <summary>Documents whose place or shape, a member with WKT, lies so to a shape.</summary>
    IDocumentQueryable<T> Spatial(Expression<Func<T, string?>> wkt, SpatialCriteria criteria);

    /// <summary>The documents whose vectors are most like one, of those that the other conditions leave.</summary>
    IDocumentQueryable<T> VectorSearch(
        Expression<Func<T, object?>> member, float[] vector, double? minimumSimilarity = null, int numberOfCandidates = 16,
        bool exact = false);

    /// <summary>Documents that share the most telling words with one.</summary>
    IDocumentQueryable<T> MoreLikeThis(string documentId, MoreLikeThisOptions? options = null);

    /// <summary>Sorted by a member, least first.</summary>
    IDocumentQueryable<T> OrderBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Sorted by a member, greatest first.</summary>
    IDocumentQueryable<T> OrderByDescending<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Equal ones sorted by another member, least first.</summary>
    IDocumentQueryable<T> ThenBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Equal ones sorted by another member, greatest first.</summary>
    IDocumentQueryable<T> ThenByDescending<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Best first.</summary>
    IDocumentQueryable<T> OrderByScore();

    /// <summary>Nearest first; places by latitude and longitude.</summary>
    IDocumentQueryable<T> OrderByDistance(
        Expression<Func<T, double>> latitude, Expression<Func<T, double>> longitude, double fromLatitude, double fromLongitude,
        bool descending = false);

    /// <summary>In an order that is the same for the same seed.</summary>
    IDocumentQueryable<T> OrderByRandom(string seed);

    /// <summary>What each document becomes: members, computed values, new objects.</summary>
    IDocumentQueryable<TResult> Select<TResult>(Expression<Func<T, TResult>> selector);

    /// <summary>Results read as another class, member by member, of the names that JSON has.</summary>
    IDocumentQueryable<TResult> ProjectInto<TResult>();

    /// <summary>
    /// The documents, where conditions name what an index computes of them:
    /// <c>Query&lt;Orders_Totals.Result, Orders_Totals&gt;().Where(r => r.Total > 10).OfType&lt;Order&gt;()</c>.
    /// </summary>
    IDocumentQueryable<TResult> OfType<TResult>()
        where TResult : class;

    /// <summary>Equal results once.</summary>
    IDocumentQueryable<T> Distinct();

    /// <summary>Without the first so many.</summary>
    IDocumentQueryable<T> Skip(int count);

    /// <summary>At most so many.</summary>
    IDocumentQueryable<T> Take(int count);

    /// <summary>
    /// Loads the documents whose ids a member has, with the results: loading them in the session reads nothing.
    /// </summary>
    IDocumentQueryable<T> Include(Expression<Func<T, object?>> member);

    /// <summary>
    /// As <see cref="Include(Expression{Func{T, object}})"/>, by a path of the document: <c>Lines[].Product</c>.
    /// </summary>
    IDocumentQueryable<T> Include(string path);

    /// <summary>
    /// Brings along documents, counters, time series, compare-exchange values and revisions: reading them in the session takes no
    /// further request.
    /// </summary>
    /// <exception cref="NotSupportedException">Results are not documents of the type any more.</exception>
    IDocumentQueryable<T> Include(Action<IncludeBuilder<T>> includes);

    /// <summary>The best parts of a member, found words between tags.</summary>
    IDocumentQueryable<T> Highlight(
        Expression<Func<T, object?>> member, int fragmentLength, int fragmentCount, out QueryNotes highlights);

    /// <summary>What is known of the answer beside its results, once it is there.</summary>
    IDocumentQueryable<T> Statistics(out QueryStatistics statistics);

    /// <summary>How the answer was found and how long its parts took.</summary>
    IDocumentQueryable<T> Timings(out QueryNotes timings);

    /// <summary>Why each result has its score.</summary>
    IDocumentQueryable<T> Explain(out QueryNotes explanations);

    /// <summary>Answers at once from what the index has seen, instead of seeing every commit before it.</summary>
    IDocumentQueryable<T> AllowStale();

    /// <summary>Waits until the index has seen every commit before it.</summary>
    IDocumentQueryable<T> WaitForNonStaleResults(TimeSpan? timeout = null);

    /// <summary>Documents in groups, each of which becomes a row.</summary>
    GroupQuery<TKey, T> GroupBy<TKey>(Expression<Func<T, TKey>> key);

    /// <summary>Counts results by the values of a member.</summary>
    FacetQuery<T> AggregateBy(Expression<Func<T, object?>> member, string? name = null);

    /// <summary>Terms of a member that a text may have meant, best first.</summary>
    Task<IReadOnlyList<string>> SuggestUsingAsync(
        Expression<Func<T, object?>> member, string text, bool words = false, CancellationToken cancellationToken = default);

    /// <summary>All results.</summary>
    Task<List<T>> ToListAsync(CancellationToken cancellationToken = default);

    /// <summary>All results.</summary>
    Task<T[]> ToArrayAsync(CancellationToken cancellationToken = default);

    /// <summary>The first result.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    Task<T> FirstAsync(CancellationToken cancellationToken = default);

    /// <summary>The first result for which a condition holds.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    Task<T> FirstAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>The first result, if there is one.</summary>
    Task<T?> FirstOrDefaultAsync(CancellationToken cancellationToken = default);

    /// <summary>The first result for which a condition holds, if there is one.</summary>
    Task<T?> FirstOrDefaultAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>The only result.</summary>
    /// <exception cref="InvalidOperationException">There is none, or more than one.</exception>
    Task<T> SingleAsync(CancellationToken cancellationToken = default);

    /// <summary>The only result, if there is one.</summary>
    /// <exception cref="InvalidOperationException">There is more than one.</exception>
    Task<T?> SingleOrDefaultAsync(CancellationToken cancellationToken = default);

    /// <summary>Whether there is a result.</summary>
    Task<bool> AnyAsync(CancellationToken cancellationToken = default);

    /// <summary>Whether there is a result for which a condition holds.</summary>
    Task<bool> AnyAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>How many results there are.</summary>
    Task<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>How many results there are for which a condition holds.</summary>
    Task<int> CountAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default);

    /// <summary>How many results there are.</summary>
    Task<long> LongCountAsync(CancellationToken cancellationToken = default);

    /// <summary>
    /// All results, when they are asked for: then everything of the session that waits is run together, as one request.
    /// </summary>
    Lazy<IEnumerable<T>> Lazily();

    /// <summary>As <see cref="Lazily"/>, to be awaited.</summary>
    Lazy<Task<IEnumerable<T>>> LazilyAsync();

    /// <summary>How many results there are, when it is asked for; see <see cref="Lazily"/>.</summary>
    Lazy<int> CountLazily();

    /// <summary>As <see cref="CountLazily"/>, to be awaited.</summary>
    Lazy<Task<int>> CountLazilyAsync();

    /// <summary>One result after another, from one snapshot, for <c>await foreach</c>.</summary>
    IAsyncEnumerator<T> GetAsyncEnumerator(CancellationToken cancellationToken = default);

    /// <summary>The query as RQL with its parameters, as it would be run now.</summary>
    RqlStatement ToRql();
}
