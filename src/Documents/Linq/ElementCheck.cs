using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// What belongs to a condition of which an index knows a part: the index gives at least the documents that meet it, and
/// <c>filter</c> looks at each of them.
/// </summary>
/// <param name="Least">What the index can say that gives none but documents which meet it.</param>
/// <param name="Whole">The condition as <c>filter</c> takes it.</param>
/// <param name="Rest">What of it is left to look at where the index has answered.</param>
/// <param name="Quoted">What an index does not know, for errors.</param>
internal sealed record ElementCheck(Clause Least, Clause Whole, Clause Rest, Expression Quoted);
