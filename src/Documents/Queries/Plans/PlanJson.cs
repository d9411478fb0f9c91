using System.Text.Json;
using Treepie.Indexing;
using Treepie.Indexing.Plans;

namespace Treepie.Queries.Plans;

/// <summary>
/// Writes plans and timings as JSON in the format of RavenDB clients (<c>DurationInMs</c>, <c>Timings</c>, <c>QueryPlan</c>),
/// with additional members that those clients ignore.
/// </summary>
internal static class PlanJson
{
    /// <summary>Writes the timings of a result.</summary>
    /// <param name="json">The output.</param>
    /// <param name="duration">The total duration.</param>
    /// <param name="phases">The duration of each phase.</param>
    /// <param name="plan">The executed plan, or null if no index was used.</param>
    /// <param name="counters">The work that the search did.</param>
    public static void WriteTimings(
        Utf8JsonWriter json, TimeSpan duration, QueryPhases? phases, PlanNode? plan, QueryCounters counters)
    {
        json.WriteStartObject();
        WriteDuration(json, duration);
        json.WriteStartObject("Timings");
        foreach ((string name, TimeSpan elapsed) in phases is null ? [] : phases.Ended)
        {
            json.WriteStartObject(name);
            WriteDuration(json, elapsed);
            json.WriteNull("Timings");
            json.WriteEndObject();
        }

        json.WriteEndObject();
        if (plan is not null)
        {
            json.WriteStartObject("Counters");
            WriteCounters(json, counters);
            json.WriteEndObject();
            if (plan.ColdPages is { } cold)
            {
                // Not among the counters, which are the same on every run.
                json.WriteNumber("PagesCold", cold);
                json.WriteNumber("PagesWarm", counters.PagesRead - cold);
            }

            json.WritePropertyName("QueryPlan");
            Write(json, plan);
        }

        json.WriteEndObject();
    }

    /// <summary>Writes a step and its subtree.</summary>
    public static void Write(Utf8JsonWriter json, PlanNode node)
    {
        json.WriteStartObject();
        json.WriteString("Operation", node.Operation);
        json.WriteStartObject("Parameters");
        if (node.Field is not null)
            json.WriteString("Field", node.Field);
        if (node.Label is not null)
            json.WriteString("Label", node.Label);
        json.WriteEndObject();
        if (node.Estimate is { } estimate)
        {
            json.WriteNumber("Estimate", estimate);
            json.WriteBoolean("IsExact", node.IsExact);
        }

        json.WriteNumber("RowsIn", node.RowsIn);
        json.WriteNumber("RowsOut", node.RowsOut);
        json.WriteNumber("Windows", node.Windows);
        json.WriteNumber("WindowsBelowBound", node.WindowsBelowBound);
        json.WriteNumber("Probes", node.Probes);
        WriteCounters(json, node.Counters);
        if (node.Elapsed is { } elapsed)
            json.WriteNumber("ElapsedMicroseconds", Math.Round(elapsed.TotalMicroseconds, 1));
        if (node.ColdPages is { } cold)
            json.WriteNumber("PagesCold", cold);
        WriteDecisions(json, node);
        json.WriteStartArray("Children");
        foreach (PlanNode child in node.Children)
            Write(json, child);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteDecisions(Utf8JsonWriter json, PlanNode node)
    {
        json.WriteStartArray("Decisions");
        foreach (PlanDecision decision in node.Decisions)
        {
            json.WriteStartObject();
            json.WriteString("Question", decision.Question);
            json.WriteString("Chosen", decision.Chosen);
            WriteCost(json, decision.Cost);
            json.WriteString("Reason", decision.Reason);
            json.WriteStartArray("NotTaken");
            foreach (PlanAlternative other in decision.NotTaken)
            {
                json.WriteStartObject();
                json.WriteString("Name", other.Name);
                WriteCost(json, other.Cost);
                json.WriteString("Reason", other.Reason);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteCost(Utf8JsonWriter json, double? nanoseconds)
    {
        if (nanoseconds is { } cost && double.IsFinite(cost))
            json.WriteNumber("CostMicroseconds", Math.Round(cost / 1_000, 1));
    }

    private static void WriteCounters(Utf8JsonWriter json, QueryCounters counters)
    {
        json.WriteNumber("PagesRead", counters.PagesRead);
        json.WriteNumber("BlocksDecoded", counters.BlocksDecoded);
        json.WriteNumber("BytesDecoded", counters.BytesDecoded);
        json.WriteNumber("TermsScanned", counters.TermsScanned);
        json.WriteNumber("EntriesScanned", counters.EntriesScanned);
        json.WriteNumber("CandidatesScored", counters.CandidatesScored);
    }

    private static void WriteDuration(Utf8JsonWriter json, TimeSpan duration)
    {
        json.WriteNumber("DurationInMs", (long)duration.TotalMilliseconds);
        json.WriteNumber("DurationInMicroseconds", Math.Round(duration.TotalMicroseconds, 1));
    }
}
