namespace Treepie.Indexes.Grouping;

/// <summary>An aggregate of a group other than its count.</summary>
/// <param name="Kind">What is computed.</param>
/// <param name="Path">The path of its values in documents.</param>
internal sealed record GroupAggregate(GroupAggregateKind Kind, string Path)
{
    /// <summary>The name in queries: <c>sum(Freight)</c>, <c>min(Freight)</c>.</summary>
    public string Name => $"{WordOf(Kind)}({Path})";

    /// <summary>The member with its value in the objects of groups.</summary>
    public string Member => GroupKey.MemberOf(Name);

    /// <summary>Returns the name of the method in queries.</summary>
    public static string WordOf(GroupAggregateKind kind) => kind switch
    {
        GroupAggregateKind.Sum => "sum",
        GroupAggregateKind.Min => "min",
        _ => "max",
    };
}
