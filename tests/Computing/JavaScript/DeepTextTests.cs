using Treepie.Computations;

namespace Treepie.Computing.Tests.JavaScript;

/// <summary>Texts that are nested so deep that whoever walks them needs a stack of that depth.</summary>
public sealed class DeepTextTests
{
    private const int Depth = 15_000;

    public static TheoryData<string> Maps =>
    [
        $"map('Orders', o => ({{ A: {Repeat("1+")}1 }}))",
        $"map('Orders', o => ({{ A: {Repeat("(")}1{Repeat(")")} }}))",
        $"map('Orders', o => ({{ A: {Repeat("!")}1 }}))",
        $"map('Orders', o => ({{ A: {Repeat("[")}{Repeat("]")} }}))",
        $"map('Orders', o => ({{ A: o{Repeat(".a")} }}))",
        $"map('Orders', o => ({{ A: o{Repeat("()")} }}))",
        $"map('Orders', o => ({{ A: {Repeat("x=>")}1 }}))",
        $"map('Orders', o => {{ {Repeat("{")}{Repeat("}")} }})",
        $"map('Orders', o => {{ {Repeat("if(1)")}; }})",
        $"from o in docs.Orders select new {{ A = {Repeat("1+")}1 }}",
        $"from o in docs.Orders select new {{ A = {Repeat("(")}1{Repeat(")")} }}",
        $"from o in docs.Orders select new {{ A = {Repeat("!")}true }}",
        $"from o in docs.Orders select new {{ A = o{Repeat(".a")} }}",
        $"from o in docs.Orders select new {{ A = o{Repeat("[0]")} }}",
    ];

    [Theory]
    [MemberData(nameof(Maps))]
    public void A_deep_map_is_refused_or_fails_for_its_document_or_is_computed(string text)
    {
        try
        {
            IndexMap map = new TextComputingEngine().CompileMap(new IndexTexts("Test", new Dictionary<string, string>()), text);
            MappedDocuments.Map(map, "orders/1", "Orders", """{"a":1}""", new MapOutput());
        }
        catch (Exception error) when (error is InvalidIndexDefinitionException or ComputationException)
        {
            Assert.NotEmpty(error.Message);
        }
    }

    private static string Repeat(string text) => string.Concat(Enumerable.Repeat(text, Depth));
}
