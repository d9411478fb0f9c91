namespace Treepie.Computing.Tests;

/// <summary>What compiles texts is one thing for any number of databases.</summary>
public sealed class TextComputingEngineTests
{
    [Fact]
    public void An_engine_can_be_given_to_a_database()
    {
        var options = new DatabaseOptions { Computing = new TextComputingEngine() };
        Assert.IsType<TextComputingEngine>(options.Computing);
    }
}
