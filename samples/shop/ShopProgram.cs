using Treepie.Extensions.Hosting;

namespace Shop;

/// <summary>A shop as a minimal API: two databases, sessions by dependency injection, search, health.</summary>
public static class ShopProgram
{
    public static async Task Main(string[] arguments)
    {
        await using WebApplication shop = Build(WebApplication.CreateBuilder(arguments));
        await shop.RunAsync();
    }

    /// <summary>The program; tests give a builder whose configuration says <c>Shop:InMemory</c>.</summary>
    public static WebApplication Build(WebApplicationBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        IConfigurationSection settings = builder.Configuration.GetSection("Shop");
        bool inMemory = settings.GetValue<bool>("InMemory");
        string data = settings["Data"] ?? "data";
        builder.Services.AddTreepieDatabase(options => Configure(options, "shop"));
        builder.Services.AddKeyedTreepieDatabase("orders", options => Configure(options, "orders"));
        builder.Services.AddHealthChecks().AddTreepie().AddTreepie("orders", "orders");
        builder.Services.AddSingleton(TimeProvider.System);

        // Traces and metrics of the engine: whoever uses OpenTelemetry adds the source and the meter "Treepie".
        WebApplication shop = builder.Build();
        shop.MapShop();
        return shop;

        // Its name says in traces which database it is, also where both are in memory.
        void Configure(TreepieHostingOptions options, string name)
        {
            options.Path = Path.Combine(data, name);
            options.InMemory = inMemory;
            options.Database = options.Database with { Name = name };
        }
    }
}
