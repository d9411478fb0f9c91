using Microsoft.AspNetCore.Http;
using Treepie.Server.Http;
using Treepie.Storage;

namespace Treepie.Server.Tests.Endpoints;

/// <summary>How errors of the engine look to clients.</summary>
public sealed class ErrorAnswerTests
{
    [Fact]
    public void What_may_pass_by_itself_asks_the_client_to_come_again_and_hides_places()
    {
        ErrorAnswer answer = ErrorAnswer.ForOperation(
            new OpenFileLimitException("The file '/srv/data/x/data.treepie' cannot be opened: too many open files."));
        Assert.Equal(StatusCodes.Status503ServiceUnavailable, answer.StatusCode);
        Assert.DoesNotContain("/srv/data", answer.Message, StringComparison.Ordinal);
        Assert.True(answer.IsUnexpected); // the operator's log has it
        if (!OperatingSystem.IsWindows())
            Assert.Equal(
                StatusCodes.Status503ServiceUnavailable,
                ErrorAnswer.ForOperation(new IOException("Too many open files : '/srv/data'", 24)).StatusCode);
        Assert.Equal(
            StatusCodes.Status500InternalServerError,
            ErrorAnswer.ForOperation(new CorruptionException("Page 7 is damaged.")).StatusCode);
    }
}
