using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>
/// The remainder of a condition that an index can evaluate only in part: the index returns a superset of the matching documents,
/// and <c>filter</c> evaluates each of them.
/// </summary>
/// <param name="Least">An index condition that matches only documents which match the whole condition.</param>
/// <param name="Whole">The condition for <c>filter</c>.</param>
/// <param name="Rest">The part that remains to be evaluated after the index.</param>
/// <param name="Quoted">The part that the index cannot evaluate, for error messages.</param>
internal sealed record ElementCheck(Clause Least, Clause Whole, Clause Rest, Expression Quoted);
