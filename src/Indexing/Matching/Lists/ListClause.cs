using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>A clause that is a list and nothing else, with what its matches count.</summary>
/// <param name="Source">The clause.</param>
/// <param name="List">The list in it.</param>
/// <param name="Scorer">Scores its entries; null: each counts the boost.</param>
/// <param name="Boost">The boosts around the list, multiplied as its clause does.</param>
internal readonly record struct ListClause(Operator Source, TermOperator List, TermScorer? Scorer, float Boost)
{
    /// <summary>What no match counts more than.</summary>
    public float Most => Scorer is null ? Boost : Scorer.Weight(Boost);

    /// <summary>What an impact of 1/255 counts; 0 where all matches count the same.</summary>
    public float Unit => Scorer is null ? 0 : Scorer.ImpactUnit * Scorer.Weight(Boost);

    /// <summary>Looks whether a clause is a list, maybe with boosts or a constant score around it; null if it is more.</summary>
    public static ListClause? Of(Operator clause, float boost)
    {
        bool isConstant = false;
        for (Operator inner = clause; ;)
        {
            switch (inner)
            {
                case TracedOperator traced:
                    inner = traced.Inner;
                    break;
                case ConstantOperator constant:
                    inner = constant.Clause;
                    isConstant = true;
                    break;
                case BoostOperator boosted:
                    inner = boosted.Inner;
                    boost *= isConstant ? 1 : boosted.Factor;
                    break;
                case TermOperator list:
                    return new ListClause(clause, list, isConstant ? null : list.Scorer, boost);
                default:
                    return null;
            }
        }
    }
}
