using System.Text.Json;
using Treepie.Server.Operations;

namespace Treepie.Server.Tests.Operations;

/// <summary>The state of an operation, as clients read it.</summary>
public sealed class OperationTests
{
    /// <summary>Progress is reported now and then, so the last report may be from before the end.</summary>
    [Fact]
    public void A_completed_operation_has_done_all_of_it_and_a_cancelled_one_what_it_reported()
    {
        var completed = new Operation(1);
        completed.Report(new OperationProgress(5, 10, 2, "docs/5"));
        Assert.Equal((5, 10), ProgressOf(completed));
        completed.Complete(static json => json.WriteNullValue());
        Assert.Equal((10, 10), ProgressOf(completed));

        var cancelled = new Operation(2);
        cancelled.Report(new OperationProgress(5, 10, 2, "docs/5"));
        cancelled.Cancel();
        Assert.Equal((5, 10), ProgressOf(cancelled));
    }

    private static (int Processed, int Total) ProgressOf(Operation operation)
    {
        using var output = new MemoryStream();
        using (var json = new Utf8JsonWriter(output))
            operation.WriteState(json);
        using var state = JsonDocument.Parse(output.ToArray());
        JsonElement progress = state.RootElement.GetProperty("Progress");
        return (progress.GetProperty("Processed").GetInt32(), progress.GetProperty("Total").GetInt32());
    }
}
